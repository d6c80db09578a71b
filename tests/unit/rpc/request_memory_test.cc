// The cost of one request: messages are counted before they are parsed, the memory for parsing and decompressing is
// charged before it is allocated, and memory returns to the system.
#include <atomic>
#include <fstream>
#include <thread>
#include <vector>

#include "common/base/mutant.h"
#include "common/rpc/cell_compression.h"
#include "common/rpc/frame.h"
#include "common/rpc/heap_trim.h"
#include "tests/support/sanitized.h"
#include "tests/unit/rpc/rpc_fixture.h"

namespace ratchet::rpc {
namespace {

std::size_t ResidentNow() {
  std::ifstream statm("/proc/self/statm");
  std::size_t total = 0;
  std::size_t resident = 0;
  statm >> total >> resident;
  return resident * 4096;
}

// A scan of this many columns, each a message of its own. Without families the request is incomplete.
hbase::pb::ScanRequest ScanOf(int columns, bool complete) {
  hbase::pb::ScanRequest request;
  for (int i = 0; i < columns; ++i) {
    auto& column = *request.mutable_scan()->add_column();
    if (complete) column.set_family("f");
  }
  return request;
}

std::string PartialFrame(std::uint32_t call_id, const hbase::pb::ScanRequest& request) {
  hbase::pb::RequestHeader header;
  header.set_call_id(call_id);
  header.set_method_name("Scan");
  header.set_request_param(true);
  const std::string head = header.SerializeAsString();
  const std::string parameter = request.SerializePartialAsString();
  std::string body(1, static_cast<char>(head.size()));
  body += head;
  for (std::size_t left = parameter.size(); left > 0 || parameter.empty(); left >>= 7) {
    body += static_cast<char>((left & 0x7F) | (left > 0x7F ? 0x80 : 0));
    if (left <= 0x7F) break;
  }
  body += parameter;
  std::string frame;
  AppendBig32(static_cast<std::uint32_t>(body.size()), frame);
  return frame + body;
}

class RequestMemoryTest : public RpcTest {
 protected:
  void SetUp() override { Restart(Options()); }
  static ServerOptions Options() {
    ServerOptions options;
    return options;
  }
  ParsedAnswer AnswerTo(const std::string& frame) {
    RawClient client(server_->port());
    client.Send(Hello());
    client.Send(frame);
    last_ = client.ReadFrame();
    return ParseAnswer(last_);
  }
  std::string last_;
};

TEST_F(RequestMemoryTest, AnErrorNamesAFewOfAHundredThousandMissingFields) {
  const ParsedAnswer answer = AnswerTo(PartialFrame(1, ScanOf(100'000, false)));
  EXPECT_EQ(answer.header.exception().exception_class_name(), exception::kDoNotRetryIo);
  EXPECT_NE(answer.header.exception().stack_trace().find("scan.column[0].family"), std::string::npos)
      << answer.header.exception().stack_trace().substr(0, 1000);
  EXPECT_LT(last_.size(), 1'000u);
}

TEST_F(RequestMemoryTest, TooManyMessagesAreRefusedUnparsed) {
  ServerOptions options = Options();
  options.max_request_messages = 10'000;
  Restart(options);
  EXPECT_EQ(AnswerTo(PartialFrame(1, ScanOf(10'001, false))).header.exception().exception_class_name(),
            exception::kRequestTooBig);
  EXPECT_FALSE(AnswerTo(PartialFrame(2, ScanOf(9'000, true))).header.has_exception());
}

TEST_F(RequestMemoryTest, WhatParsingMakesIsCharged) {
  ServerOptions options = Options();
  options.max_call_bytes = 4 << 20;
  Restart(options);
  const std::string frame = PartialFrame(1, ScanOf(20'000, true));
  ASSERT_LT(frame.size(), 200'000u);
  EXPECT_EQ(AnswerTo(frame).header.exception().exception_class_name(), exception::kCallQueueTooBig);
  EXPECT_FALSE(AnswerTo(PartialFrame(2, ScanOf(100, true))).header.has_exception());
  EXPECT_TRUE(Eventually([&] { return server_->stats().call_bytes == 0; }));
}

TEST_F(RequestMemoryTest, ChargingFramesOnlyIsNoticed) {
  const ScopedMutant mutant("rpc.charge_frames_only");
  ServerOptions options = Options();
  options.max_call_bytes = 4 << 20;
  Restart(options);
  EXPECT_FALSE(AnswerTo(PartialFrame(1, ScanOf(20'000, true))).header.has_exception());
}

// The limit for a header, which is parsed for every request.
TEST_F(RequestMemoryTest, AHeaderOfManyMessagesCostsTheConnection) {
  std::string header;
  for (int i = 0; i < 100'000; ++i) header += std::string("\x42\x00", 2);  // attributes without a name
  std::string body;
  for (std::size_t left = header.size();; left >>= 7) {
    body += static_cast<char>((left & 0x7F) | (left > 0x7F ? 0x80 : 0));
    if (left <= 0x7F) break;
  }
  body += header;
  std::string frame;
  AppendBig32(static_cast<std::uint32_t>(body.size()), frame);
  RawClient client(server_->port());
  client.Send(Hello());
  client.Send(frame + body);
  const std::string answer = client.ReadFrame();
  EXPECT_LT(answer.size(), 1'000u);
  EXPECT_EQ(ParseAnswer(answer).header.exception().exception_class_name(), exception::kFatalConnection);
}

// As HBase does: the client no longer waits.
TEST_F(RequestMemoryTest, CallsOfAnEndedConnectionAreDropped) {
  RawClient blocking(server_->port());
  blocking.Send(Hello());
  for (std::uint32_t i = 0; i < 8; ++i) blocking.Send(RequestFrame(i, "Get", MakeGet("block")));
  WaitBlocked(8);
  {
    RawClient leaving(server_->port());
    leaving.Send(Hello());
    for (std::uint32_t i = 0; i < 5; ++i) leaving.Send(RequestFrame(i, "Mutate", MakePut("row")));
    ASSERT_TRUE(Eventually([&] { return server_->stats().calls_received == 13; }));
  }
  ASSERT_TRUE(Eventually([&] { return server_->stats().connections_open == 1; }));
  blocking.Send(RequestFrame(9, "Mutate", MakePut("row")));
  Unblock();
  for (int i = 0; i < 9; ++i) EXPECT_FALSE(blocking.ReadFrame().empty());
  EXPECT_EQ(mutations_.load(), 1);
  EXPECT_TRUE(Eventually([&] { return server_->stats().call_bytes == 0; }));
}

TEST_F(RequestMemoryTest, TextsOfErrorsHaveABound) {
  const ParsedAnswer answer = AnswerTo(RequestFrame(1, std::string(1'000'000, 'm'), MakeGet("r")));
  EXPECT_LT(answer.header.exception().stack_trace().size(), 20'000u);
}

// Memory budgets that a codec must not exceed.
struct Budget {
  explicit Budget(std::size_t bytes) : most(bytes) {}
  DecompressionRoom Room() {
    return {[this](std::size_t more) {
              if (taken + more > most) return false;
              taken += more;
              peak = std::max(peak, taken);
              return true;
            },
            [this](std::size_t less) { taken -= less; }};
  }
  std::size_t most = 0, taken = 0, peak = 0;
};

constexpr std::array kCodecs{CellCompression::kGzip, CellCompression::kZlib, CellCompression::kSnappy,
                             CellCompression::kLz4, CellCompression::kZstd};

TEST(DecompressionRoomTest, EveryCodecTakesRoomBeforeItAllocates) {
  const std::string large(8 << 20, 'x');
  for (const CellCompression codec : kCodecs) {
    const std::string bomb = Compress(codec, large).value();
    Budget small(1 << 20);
    const auto refused = Decompress(codec, bomb, 64 << 20, small.Room());
    ASSERT_FALSE(refused.ok()) << static_cast<int>(codec);
    EXPECT_EQ(refused.error().remote_class(), exception::kCallQueueTooBig) << static_cast<int>(codec);
    Budget enough(256 << 20);
    const auto whole = Decompress(codec, bomb, 64 << 20, enough.Room());
    ASSERT_TRUE(whole.ok()) << static_cast<int>(codec);
    EXPECT_EQ(*whole, large);
    EXPECT_GE(enough.taken, large.size()) << static_cast<int>(codec);
    EXPECT_LE(enough.taken, 4 * large.size()) << static_cast<int>(codec);
  }
}

TEST(DecompressionRoomTest, ChargingAfterwardsIsNoticed) {
  const ScopedMutant mutant("rpc.charge_cells_late");
  const std::string bomb = Compress(CellCompression::kGzip, std::string(8 << 20, 'x')).value();
  Budget small(1 << 20);
  EXPECT_TRUE(Decompress(CellCompression::kGzip, bomb, 64 << 20, small.Room()).ok());
}

// The window of a zstd frame is allocated by the library when the frame begins.
TEST(DecompressionRoomTest, TheWindowOfAZstdFrameIsTakenToo) {
  std::string frame("\x28\xB5\x2F\xFD\x00", 5);
  frame += static_cast<char>(17 << 3);      // a window of 2^27 bytes
  frame += std::string("\x01\x00\x00", 3);  // the last block, raw and empty
  Budget small(1 << 20);
  const auto refused = Decompress(CellCompression::kZstd, frame, 64 << 20, small.Room());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().remote_class(), exception::kCallQueueTooBig);
  Budget enough(256 << 20);
  EXPECT_TRUE(Decompress(CellCompression::kZstd, frame, 64 << 20, enough.Room()).ok());
  EXPECT_GE(enough.peak, std::size_t{1} << 27);
  EXPECT_LT(enough.taken, 1u << 20);
}

TEST(HeapTrimTest, MemoryReturnsAfterABurst) {
  HeapTrim trim;
  const std::size_t before = ResidentNow();
  std::vector<std::unique_ptr<char[]>> pieces;
  constexpr std::size_t kPiece = 1'000;
  for (int i = 0; i < 200'000; ++i) {
    pieces.push_back(std::make_unique<char[]>(kPiece));
    trim.Held(pieces.size() * kPiece);
  }
  const std::unique_ptr<char[]> last = std::move(pieces.back());  // so that the top of the heap is in use
  const std::size_t most = ResidentNow();
  std::vector<std::unique_ptr<char[]>>().swap(pieces);
  trim.Released(kPiece);
  EXPECT_TRUE(Eventually([&] { return trim.trims() == 1; }));
  if (testing::kSanitized) return;  // it has an allocator of its own
  EXPECT_LT(ResidentNow(), before + (most - before) / 4);
}

// Pieces below the largest that was freed come from the arenas of the threads that ask for them.
TEST(HeapTrimTest, MemoryOfThreadsReturns) {
  BoundFreedMemory();
  const std::size_t before = ResidentNow();
  constexpr int kThreads = 8;
  std::vector<std::thread> threads;
  std::atomic<int> freed{0};
  std::atomic<int> touched{0};
  std::atomic<bool> look{false};
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (std::size_t size = 1u << 20; size <= (32u << 20); size *= 2) {
        const std::string piece(size, 'x');
        touched += piece.back();
      }
      ++freed;
      while (!look.load()) std::this_thread::yield();  // its arena stays in use
    });
  }
  EXPECT_TRUE(Eventually([&] { return freed.load() == kThreads; }));
  HeapTrim trim;
  trim.Held(256u << 20);
  trim.Released(0);
  EXPECT_TRUE(Eventually([&] { return trim.trims() == 1; }));
  const std::size_t after = ResidentNow();
  look = true;
  for (std::thread& thread : threads) thread.join();
  if (testing::kSanitized) return;  // it has an allocator of its own
  EXPECT_LT(after, before + kThreads * (12u << 20));
}

TEST(HeapTrimTest, SmallLoadsTrimNothing) {
  HeapTrim trim;
  for (int i = 0; i < 1'000; ++i) {
    trim.Held(1 << 20);
    trim.Released(0);
  }
  EXPECT_EQ(trim.trims(), 0u);
}

}  // namespace
}  // namespace ratchet::rpc
