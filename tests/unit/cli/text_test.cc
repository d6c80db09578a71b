#include <gtest/gtest.h>

#include "common/base/prng.h"
#include "common/rpc/exceptions.h"
#include "common/tools/cli/bytes_text.h"
#include "common/tools/cli/exit_status.h"
#include "common/tools/cli/printer.h"

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

// A reason from a hostile user must not control the operator's terminal.
TEST(BytesText, ATerminalIsNotCommandedByATextOfOthers) {
  EXPECT_EQ(TerminalText("\x1b]0;owned\x07 a\\b\tc"), "\\x1B]0;owned\\x07 a\\b\\x09c");
  EXPECT_EQ(TerminalText("two\nlines"), "two\\x0Alines");
  EXPECT_EQ(TerminalText("two\nlines\r", true), "two\nlines\\x0D");
  EXPECT_EQ(TerminalText("\xC3\xA4 \xC2\x9B \xFF \xE0\x80\x80"), "\xC3\xA4 \\xC2\\x9B \\xFF \\xE0\\x80\\x80");
  EXPECT_EQ(FieldText(Field(std::string("\x1b[31m"))), "\\x1B[31m");
  EXPECT_EQ(FieldText(Field(std::vector<std::string>{"a", "\x1b"})), "a \\x1B");
}

TEST(Printer, ATextOfOthersMakesNoLineOfItsOwn) {
  ::testing::internal::CaptureStdout();
  const Printer printer(false, Look());
  printer.Note("\nreason: a\nNo problems.\n");
  printer.Note("");
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "\nreason: a\\x0ANo problems.\n\n\n");
}

TEST(BytesText, JsonIsUtf8WhateverANameHolds) {
  EXPECT_EQ(Utf8Text("\xC3\xA4\xC2\x9B\x1b\xFF."), "\xC3\xA4\xC2\x9B\x1b\xEF\xBF\xBD.");
  EXPECT_EQ(Utf8Text("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(JsonText({"NAME"}, {std::string("a\xFF")}), "{\"name\":\"a\xEF\xBF\xBD\"}");
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
