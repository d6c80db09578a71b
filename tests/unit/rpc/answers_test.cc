// How answers are encoded and written, and how handlers are woken.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <thread>

#include "common/base/gathering.h"
#include "common/rpc/frame.h"
#include "tests/unit/rpc/rpc_fixture.h"

namespace ratchet::rpc {
namespace {

class AnswersTest : public RpcTest {};

TEST(SplitFrameTest, BothPartsAreTheWholeFrame) {
  for (const std::size_t size : {0, 5, (16 << 10) - 1, 16 << 10, 1 << 20}) {
    const std::string cells(size, 'c');
    hbase::pb::ResponseHeader header;
    header.set_call_id(7);
    hbase::pb::ScanResponse response;
    for (int i = 0; i < 300; ++i) response.add_cells_per_result(1);
    const SplitFrame split = EncodeSplitResponse(header, &response, cells);
    EXPECT_EQ(split.head + split.cells, EncodeResponse(header, &response, cells)) << size;
    EXPECT_EQ(split.cells.empty(), size < 16 << 10) << size;
  }
}

// Much more than a socket accepts at once, from all handlers, large and small: answers are not mixed.
TEST_F(AnswersTest, ManyAtOnceArriveWholeWhileTheClientReadsSlowly) {
  constexpr std::uint32_t kCalls = 1'500;
  ServerOptions options;
  // On a busy machine all calls can wait at once; none may be refused.
  options.queues[static_cast<std::size_t>(QueueClass::kData)].max_calls = kCalls;
  Restart(std::move(options));
  RawClient client(server_->port());
  ASSERT_TRUE(client.Send(Hello(true)));
  const auto row_of = [](std::uint32_t call) {
    return std::string(call % 3 == 0 ? 30'000 : 10, static_cast<char>('a' + call % 26));
  };
  std::thread sender([&] {
    for (std::uint32_t call = 0; call < kCalls; ++call)
      if (!client.Send(RequestFrame(call, "Get", MakeGet(row_of(call))))) return;
  });
  std::set<std::uint32_t> answered;
  while (answered.size() < kCalls) {
    const std::string frame = client.ReadFrame();
    if (frame.empty()) break;
    const ParsedAnswer answer = ParseAnswer(frame);
    const std::string row = row_of(answer.header.call_id());
    EXPECT_TRUE(answered.insert(answer.header.call_id()).second);
    EXPECT_GE(answer.header.cell_block_meta().length(), 2 * row.size());
    EXPECT_TRUE(frame.ends_with(row));
  }
  sender.join();
  EXPECT_EQ(answered.size(), kCalls);
  EXPECT_TRUE(Eventually([&] { return server_->stats().unsent_bytes == 0; }));
}

// Calls that come in one segment wake one handler after the other; one that blocks does not stop the next wake.
TEST_F(AnswersTest, CallsThatComeTogetherReachEveryIdleHandler) {
  constexpr int kHandlers = 8;
  RawClient client(server_->port());
  std::string together = Hello(true);
  for (std::uint32_t call = 0; call + 1 < kHandlers; ++call) together += RequestFrame(call, "Get", MakeGet("block"));
  ASSERT_TRUE(client.Send(together));
  WaitBlocked(kHandlers - 1);
  ASSERT_TRUE(client.Send(RequestFrame(100, "Get", MakeGet("row"))));
  EXPECT_EQ(ParseAnswer(client.ReadFrame()).header.call_id(), 100U);
  ASSERT_TRUE(client.Send(RequestFrame(101, "Get", MakeGet("block"))));
  WaitBlocked(kHandlers);
  Unblock();
  std::set<std::uint32_t> answered;
  for (int i = 0; i < kHandlers; ++i) answered.insert(ParseAnswer(client.ReadFrame()).header.call_id());
  EXPECT_EQ(answered.size(), kHandlers);
}

TEST_F(AnswersTest, AThreadThatGathersWritesItsAnswersTogether) {
  RawClient client(server_->port());
  ASSERT_TRUE(client.Send(Hello()));
  for (std::uint32_t call = 0; call < 3; ++call) ASSERT_TRUE(client.Send(RequestFrame(call, "Get", MakeGet("hold"))));
  WaitHeld(3);
  {
    const Gathering answers;
    Release();
    EXPECT_GT(server_->stats().unsent_bytes, 0U) << "no answer is written yet";
  }
  std::set<std::uint32_t> answered;
  for (int i = 0; i < 3; ++i) answered.insert(ParseAnswer(client.ReadFrame()).header.call_id());
  EXPECT_EQ(answered.size(), 3U);
  EXPECT_TRUE(Eventually([&] { return server_->stats().unsent_bytes == 0; }));
}

TEST_F(AnswersTest, AServerMayStopWhileItsAnswersAreGathered) {
  RawClient client(server_->port());
  ASSERT_TRUE(client.Send(Hello()));
  ASSERT_TRUE(client.Send(RequestFrame(1, "Get", MakeGet("hold"))));
  WaitHeld(1);
  const Gathering answers;
  Release();
  server_.reset();
}

}  // namespace
}  // namespace ratchet::rpc
