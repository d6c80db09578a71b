#include "common/rpc/frame.h"

#include <gtest/gtest.h>

#include "common/base/prng.h"
#include "common/model/proto/client.pb.h"
#include "common/model/proto/procedure.pb.h"
#include "common/model/proto/rpc.pb.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/frame_dump.h"
#include "common/rpc/handshake.h"
#include "tests/unit/rpc/rpc_fixture.h"

namespace ratchet::rpc {
namespace {

using namespace std::string_literals;

TEST(FrameTest, GoldenAnswers) {
  hbase::pb::ResponseHeader header;
  header.set_call_id(0);
  // Call id 0 is written, and so is the empty message.
  EXPECT_EQ(EncodeResponse(header, std::make_unique<hbase::pb::ScanResponse>().get(), {}),
            "\0\0\0\x04"
            "\x02\x08\x00"
            "\x00"s);
  hbase::pb::MutateResponse mutate;
  mutate.set_processed(true);
  EXPECT_EQ(EncodeResponse(header, &mutate, "cells"),
            "\0\0\0\x0f"
            "\x06\x08\x00\x1a\x02\x08\x05"
            "\x02\x10\x01"
            "cells"s);
}

TEST(FrameTest, GoldenRequest) {
  hbase::pb::RequestHeader header;
  header.set_call_id(1);
  header.set_method_name("Get");
  header.set_request_param(true);
  EXPECT_EQ(EncodeRequest(header, hbase::pb::ScanRequest(), {}),
            "\0\0\0\x0b"
            "\x09\x08\x01\x1a\x03Get\x20\x01"
            "\x00"s);
}

TEST(FrameTest, ClusterIdFrameUsesCallMinusOne) {
  EXPECT_EQ(ClusterIdFrame("ab"),
            "\0\0\0\x0c"
            "\x06\x08\xff\xff\xff\xff\x0f"
            "\x04\x0a\x02"
            "ab"s);
}

TEST(FrameTest, BufferCutsWhateverTheSegments) {
  const std::uint64_t seed = RandomSeed();
  SCOPED_TRACE(seed);
  Prng prng(seed);
  for (int round = 0; round < 100; ++round) {
    std::string stream;
    std::vector<std::string> expected;
    for (int i = 0; i < 20; ++i) {
      expected.push_back(std::string(prng.Below(300), static_cast<char>('a' + i)));
      AppendBig32(static_cast<std::uint32_t>(expected.back().size()), stream);
      stream += expected.back();
    }
    FrameBuffer buffer(1000);
    std::vector<std::string> got;
    std::string_view rest = stream;
    while (!rest.empty()) {
      const std::size_t segment = std::min<std::size_t>(rest.size(), 1 + prng.Below(200));
      buffer.Append(rest.substr(0, segment));
      rest.remove_prefix(segment);
      std::string frame;
      while (buffer.Next(frame) == FrameBuffer::Cut::kFrame) got.push_back(frame);
    }
    ASSERT_EQ(got, expected);
    EXPECT_EQ(buffer.size(), 0u);
  }
}

TEST(FrameTest, BufferBoundsLengths) {
  FrameBuffer buffer(10);
  std::string frame;
  buffer.Append("\0\0\0\x0b"s);
  EXPECT_EQ(buffer.Next(frame), FrameBuffer::Cut::kTooBig);
  FrameBuffer negative(10);
  negative.Append("\xff\xff\xff\xff");
  EXPECT_EQ(negative.Next(frame), FrameBuffer::Cut::kBad);
}

TEST(FrameTest, DelimitedRefusesMalformedLengths) {
  for (const std::string& bad : {""s,
                                 "\x05"
                                 "abc"s,
                                 "\xff"s, "\xff\xff\xff\xff\xff\xff\x01"s,
                                 "\xff\xff\xff\xff\x0f"
                                 "abc"s}) {
    std::string_view rest = bad;
    std::string_view message;
    EXPECT_FALSE(CutDelimited(rest, message)) << bad.size();
  }
}

TEST(HandshakeTest, PreamblesAndTheirRefusals) {
  EXPECT_EQ(ReadPreamble("HBas\0\x50"s).value(), Preamble::kHBase);
  EXPECT_EQ(ReadPreamble("Regist").value(), Preamble::kRegistry);
  EXPECT_EQ(ReadPreamble("HBas\x01\x50").error().remote_class(), exception::kWrongVersion);
  EXPECT_EQ(ReadPreamble("HBas\0\x51"s).value(), Preamble::kKerberos);
  EXPECT_EQ(ReadPreamble("HBas\0\x4f"s).error().remote_class(), exception::kBadAuth);
  const Error garbage = ReadPreamble("GET / ").error();
  EXPECT_EQ(garbage.remote_class(), exception::kFatalConnection);
  EXPECT_TRUE(garbage.message().starts_with("Expected HEADER="));
}

TEST(HandshakeTest, ConnectionHeaders) {
  const auto header = [](auto change) {
    hbase::pb::ConnectionHeader message;
    message.mutable_user_info()->set_effective_user("u");
    message.set_service_name("ClientService");
    change(message);
    return ReadConnectionHeader(message.SerializePartialAsString());
  };
  const auto plain = header([](auto&) {});
  EXPECT_EQ(plain->user, "u");
  EXPECT_FALSE(plain->has_codec);
  EXPECT_TRUE(
      header([](auto& m) { m.set_cell_block_codec_class("org.apache.hadoop.hbase.codec.KeyValueCodec"); })->has_codec);
  const auto rich = header([](auto& m) {
    m.set_cell_block_codec_class("org.apache.hadoop.hbase.codec.KeyValueCodecWithTags");
    m.set_cell_block_compressor_class("org.apache.hadoop.io.compress.GzipCodec");
  });
  EXPECT_TRUE(rich->has_codec && rich->codec_has_tags);
  EXPECT_EQ(rich->compression, CellCompression::kGzip);
  EXPECT_EQ(plain->compression, CellCompression::kNone);
  EXPECT_EQ(header([](auto& m) { m.set_cell_block_codec_class("x.Y"); }).error().remote_class(),
            exception::kUnsupportedCellCodec);
  EXPECT_EQ(header([](auto& m) { m.set_cell_block_compressor_class("x.Y"); }).error().remote_class(),
            exception::kUnsupportedCompressionCodec);
  EXPECT_EQ(header([](auto& m) { m.clear_service_name(); }).error().remote_class(), exception::kEmptyServiceName);
  EXPECT_FALSE(header([](auto& m) { m.mutable_version_info()->set_version("no other field"); }).ok());
}

TEST(ExceptionTest, AlwaysClassAndStackTrace) {
  for (int code = 1; code <= 15; ++code) {
    hbase::pb::ExceptionResponse out;
    FillException(Error(static_cast<Code>(code), "why"), out);
    EXPECT_TRUE(out.exception_class_name().find('.') != std::string::npos) << code;
    EXPECT_EQ(out.stack_trace(), out.exception_class_name() + ": why");
    FillException(Error(static_cast<Code>(code), "why", std::string(kNotSent)), out);
    EXPECT_FALSE(out.exception_class_name().starts_with("ratchet."));
  }
}

TEST(ExceptionTest, RegionMovedIsParsedByJavaAndByUs) {
  const ServerName there{"h-1", 16020, 1700000000000};
  const Error error = RegionMovedError(there, 12);
  EXPECT_EQ(MovedTo(error), there);
  hbase::pb::ExceptionResponse out;
  FillException(error, out);
  EXPECT_NE(out.stack_trace().find(
                "Region moved to: hostname=h-1 port=16020 startCode=1700000000000. As of locationSeqNum=12."),
            std::string::npos);
  EXPECT_EQ(out.hostname(), "h-1");
  EXPECT_EQ(out.port(), 16020);
  EXPECT_EQ(MovedTo(ErrorFrom(out)), there);
  EXPECT_FALSE(MovedTo(RemoteError(exception::kRegionMoved, "no place")).has_value());
}

TEST(ExceptionTest, FlagsFollowTheClass) {
  hbase::pb::ExceptionResponse out;
  FillException(RemoteError(exception::kTableNotFound, "t"), out);
  EXPECT_TRUE(out.do_not_retry());
  FillException(RemoteError(exception::kCallQueueTooBig, "full"), out);
  EXPECT_FALSE(out.do_not_retry());
  EXPECT_TRUE(out.server_overloaded());
  EXPECT_EQ(ErrorFrom(out).message(), "full");
}

// The server sends a class of HBase, and a field with the exact meaning, so that no client parses the text.
TEST(ExceptionTest, AMeaningTravelsBesideTheClass) {
  const Error in_doubt = RemoteError(kWriteInDoubt, "any words");
  hbase::pb::ExceptionResponse out;
  FillException(in_doubt, out);
  EXPECT_EQ(out.exception_class_name(), exception::kNotServingRegion);
  EXPECT_TRUE(OutcomeUnknown(ErrorFrom(out)));
  EXPECT_TRUE(IsRelocate(ErrorFrom(out)));
  hbase::pb::NameBytesPair pair;
  FillPair(in_doubt, pair);
  EXPECT_EQ(pair.name(), exception::kNotServingRegion);
  EXPECT_TRUE(OutcomeUnknown(ErrorFrom(pair)));
  FillException(RemoteError(kNoSuchMethod, "any words"), out);
  EXPECT_EQ(out.exception_class_name(), exception::kDoNotRetryIo);
  EXPECT_TRUE(out.do_not_retry());
  EXPECT_TRUE(IsClass(ErrorFrom(out), kNoSuchMethod));
}

// A Java client treats InterruptedIOException as an interrupt of its own thread.
TEST(ExceptionTest, AProcedureThatWasGivenUpInterruptsNoClient) {
  for (const Code code : {Code::kAborted, Code::kTimeout}) {
    hbase::pb::ForeignExceptionMessage message;
    FillForeign(Error(code, "the split was given up"), "pid=3", message);
    EXPECT_EQ(message.generic_exception().class_name(), exception::kDoNotRetryIo);
    EXPECT_EQ(ErrorFrom(message).code(), code);
  }
}

TEST(ExceptionTest, WordsMeanNothing) {
  hbase::pb::ExceptionResponse out;
  FillException(RemoteError(exception::kNotServingRegion, "the outcome of the write is unknown"), out);
  EXPECT_FALSE(OutcomeUnknown(ErrorFrom(out)));
  FillException(RemoteError(exception::kIo, "Cannot append; log is closed"), out);
  EXPECT_FALSE(IsRelocate(ErrorFrom(out)));
  // A meaning that belongs to another class.
  FillException(RemoteError(exception::kTableNotFound, "t"), out);
  out.set_meaning(hbase::pb::WRITE_IN_DOUBT);
  EXPECT_EQ(ErrorFrom(out).remote_class(), exception::kTableNotFound);
}

TEST(ExceptionTest, TheCodeOfAProceduresErrorComesBack) {
  hbase::pb::ForeignExceptionMessage message;
  FillForeign(Error(Code::kNoSpace, "the disk is full"), "pid=3", message);
  EXPECT_EQ(ErrorFrom(message).code(), Code::kNoSpace);
  message.set_code(4711);  // an unknown code
  EXPECT_EQ(ErrorFrom(message).code(), CodeOfClass(message.generic_exception().class_name()));
}

TEST(DumpTest, ShowsBothDirections) {
  const std::string sent = Hello() + RequestFrame(7, "Get", MakeGet("row-1")) +
                           RequestFrame(8, "getProcedureResult", [] { return hbase::pb::ScanRequest(); }()) +
                           "\0\0\x01"s;
  hbase::pb::ResponseHeader header;
  header.set_call_id(7);
  const hbase::pb::GetResponse response;
  const std::string text = DumpFrames(sent, EncodeResponse(header, &response, {}));
  for (const char* part :
       {"-> preamble HBas", "ClientService", "-> call 7 Get", "GetRequest {", "row-1", "GetProcedureResultRequest",
        "MISSING: hbase.pb.GetProcedureResultRequest: missing required fields: proc_id", "cut in a length",
        "<- answer 7 Get", "GetResponse {"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in:\n" << text;
  }
}

TEST(DumpTest, SurvivesAnyBytes) {
  const std::uint64_t seed = RandomSeed();
  SCOPED_TRACE(seed);
  Prng prng(seed);
  const std::string good =
      Hello(true) + RequestFrame(1, "Get", MakeGet("row")) + RequestFrame(2, "Mutate", MakePut("row"));
  for (int i = 0; i < 2'000; ++i) {
    std::string bytes = good.substr(0, prng.Below(good.size() + 1));
    for (std::uint64_t flips = prng.Below(4); flips > 0 && !bytes.empty(); --flips) {
      bytes[prng.Below(bytes.size())] = static_cast<char>(prng.Below(256));
    }
    EXPECT_FALSE(DumpFrames(bytes, bytes).empty() && !bytes.empty());
  }
}

}  // namespace
}  // namespace ratchet::rpc
