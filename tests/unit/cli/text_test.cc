#include <gtest/gtest.h>

#include "common/base/prng.h"
#include "common/cli/bytes_text.h"
#include "common/cli/exit_status.h"
#include "common/cli/printer.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/procedure_exceptions.h"

namespace ratchet::cli {
namespace {

TEST(BytesText, EveryByteStringComesBack) {
  const std::uint64_t seed = RandomSeed();
  SCOPED_TRACE(seed);
  Prng prng(seed);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes;
    for (std::uint64_t n = prng.Below(20); n > 0; --n) bytes += static_cast<char>(prng.Below(256));
    for (const bool utf8 : {false, true}) {
      const auto back = FromText(ToText(bytes, utf8));
      ASSERT_TRUE(back.ok()) << ToText(bytes, utf8);
      EXPECT_EQ(*back, bytes);
    }
  }
}

TEST(BytesText, ControlBytesAreHexAndTextStays) {
  EXPECT_EQ(ToText(std::string("a\0b\\\xff", 5)), "a\\x00b\\\\\\xFF");
  EXPECT_EQ(ToText("\xC3\xA4"), "\xC3\xA4");
  EXPECT_EQ(ToText("\xC3\xA4", false), "\\xC3\\xA4");
  EXPECT_EQ(ToText("\xC3"), "\\xC3");
}

TEST(BytesText, ALoneBackslashIsRefused) {
  for (const char* text : {"\\", "\\x1", "\\xZZ", "a\\b"}) {
    const auto bytes = FromText(text);
    ASSERT_FALSE(bytes.ok()) << text;
    EXPECT_EQ(bytes.error().code(), Code::kInvalidArgument);
  }
}

TEST(ExitStatus, TellsUnknownOutcomesFromUnreachableClusters) {
  EXPECT_EQ(ExitCodeOf(Error(Code::kTimeout, "t", "ratchet.rpc.CallTimeout")), kExitTimeout);
  EXPECT_EQ(ExitCodeOf(Error(Code::kTimeout, "t")), kExitUnreachable);
  EXPECT_EQ(ExitCodeOf(Error(Code::kNotFound, "t")), kExitNotFound);
  EXPECT_EQ(ExitCodeOf(Error(Code::kFailedPrecondition, "t")), kExitFailed);
}

TEST(ExitStatus, TellsUnknownPidsAndRefusalsFromWrongUsage) {
  EXPECT_EQ(ExitCodeOf(rpc::RemoteError(rpc::exception::kUnknownProcedure, "no unfinished procedure has pid 9")),
            kExitNotFound);
  EXPECT_EQ(ExitCodeOf(rpc::RemoteError(rpc::exception::kDoNotRetryIo, "it is not parked")), kExitFailed);
  EXPECT_EQ(ExitCodeOf(Error(Code::kInvalidArgument, "no such verb")), kExitUsage);
}

TEST(Printer, DurationsReadWell) {
  EXPECT_EQ(DurationText(999), "999 ms");
  EXPECT_EQ(DurationText(1500), "1.5 s");
  EXPECT_EQ(DurationText(123'000), "2 min 3 s");
  EXPECT_EQ(TimeText(0), "1970-01-01 00:00:00.000");
}

}  // namespace
}  // namespace ratchet::cli
