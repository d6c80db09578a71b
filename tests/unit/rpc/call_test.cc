// Calls through a channel: answers, errors, order, deadlines, bounds.
#include <future>

#include "common/base/fault_point.h"
#include "common/model/cell_codec.h"
#include "common/rpc/methods/client_service.h"
#include "tests/unit/rpc/rpc_fixture.h"

namespace ratchet::rpc {
namespace {

using hbase::pb::GetResponse;
using GetReply = Result<Reply<GetResponse>>;

std::string RowOf(const GetReply& reply) {
  if (!reply.ok()) return reply.error().ToString();
  CellBlockReader reader(reply->cells);
  const auto cells = ReadResult(reply->message.result(), reader);
  return cells.ok() && cells->size() == 1 && reader.AtEnd() ? cells->front().row : "wrong cells";
}

class CallTest : public RpcTest {
 protected:
  GetReply Get(std::string_view row, Millis timeout = Millis(20'000)) {
    return channel()->CallSync(methods::kGet, MakeGet(row), CallOptions{timeout});
  }
  std::future<GetReply> GetAsync(std::string_view row, Millis timeout = Millis(20'000)) {
    auto promise = std::make_shared<std::promise<GetReply>>();
    auto future = promise->get_future();
    channel()->Call(methods::kGet, MakeGet(row), CallOptions{timeout},
                    [promise](GetReply reply) { promise->set_value(std::move(reply)); });
    return future;
  }
};

TEST_F(CallTest, AnswersWithCellBlock) {
  const auto reply = Get("r1");
  EXPECT_EQ(RowOf(reply), "r1");
  EXPECT_EQ(reply->message.result().cell_size(), 0);
  EXPECT_EQ(reply->message.result().associated_cell_count(), 1);
}

TEST_F(CallTest, AnswersWithProtobufCellsWhenNoCodecWasNamed) {
  ChannelPool plain({.cell_blocks = false});
  const auto reply = plain.CallSync(methods::kGet, endpoint(), MakeGet("r1"));
  EXPECT_EQ(RowOf(reply), "r1");
  EXPECT_EQ(reply->message.result().cell_size(), 1);
  EXPECT_TRUE(reply->cells.empty());
}

TEST_F(CallTest, PipelinedCallsAreAnsweredOutOfOrder) {
  std::vector<std::future<GetReply>> held;
  for (int i = 0; i < 20; ++i) held.push_back(GetAsync("hold" + std::to_string(i)));
  WaitHeld(20);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(RowOf(Get("r" + std::to_string(i))), "r" + std::to_string(i));
  for (auto& future : held) EXPECT_EQ(future.wait_for(Millis(0)), std::future_status::timeout);
  Release();
  for (auto& future : held) EXPECT_EQ(RowOf(future.get()), "released");
  EXPECT_EQ(server_->stats().connections_accepted, 1u);
}

TEST_F(CallTest, EmptyMessageArrives) {
  const auto reply = channel()->CallSync(methods::kScan, hbase::pb::ScanRequest());
  EXPECT_TRUE(reply.ok());
}

TEST_F(CallTest, LargeRequestsAndAnswers) {
  const std::string row(30000, 'x');
  EXPECT_EQ(RowOf(Get(row)), row);
  EXPECT_TRUE(channel()->CallSync(methods::kMutate, MakePut(row)).ok());
}

TEST_F(CallTest, ExceptionsKeepTheirClassAndText) {
  const auto reply = Get("fail:org.apache.hadoop.hbase.NotServingRegionException");
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().remote_class(), exception::kNotServingRegion);
  EXPECT_EQ(reply.error().message(), "told to fail");
  EXPECT_EQ(reply.error().code(), Code::kUnavailable);
  EXPECT_TRUE(IsRelocate(reply.error()));
  EXPECT_FALSE(OutcomeUnknown(reply.error()));
}

TEST_F(CallTest, HandlersThatThrowOrForgetAreAnswered) {
  EXPECT_NE(Get("throw").error().message().find("told to throw"), std::string::npos);
  EXPECT_FALSE(Get("drop").ok());
  EXPECT_EQ(RowOf(Get("twice")), "twice");
  EXPECT_EQ(RowOf(Get("after")), "after");
}

TEST_F(CallTest, UnknownMethodKeepsTheConnection) {
  constexpr Method<hbase::pb::GetRequest, GetResponse> kNotOffered{methods::kClientService, "NoSuchMethod",
                                                                   Effect::kChanges, rights::Need::Any()};
  const auto reply = channel()->CallSync(kNotOffered, MakeGet("r"));
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().remote_class(), kNoSuchMethod);
  EXPECT_NE(reply.error().message().find("UnsupportedOperationException: NoSuchMethod"), std::string::npos);
  EXPECT_EQ(RowOf(Get("r")), "r");
  EXPECT_EQ(server_->stats().connections_accepted, 1u);
}

TEST_F(CallTest, UnknownServiceIsTold) {
  const auto reply = pool_->Get("NoSuchService", endpoint())->CallSync(methods::kGet, MakeGet("r"));
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().remote_class(), exception::kUnknownService);
  EXPECT_FALSE(OutcomeUnknown(reply.error()));
  EXPECT_NE(reply.error().message().find("NoSuchService"), std::string::npos) << reply.error().message();
}

TEST_F(CallTest, DeadlineEndsACallAndItsLateAnswerHurtsNobody) {
  const auto reply = Get("hold", Millis(50));
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code(), Code::kTimeout);
  EXPECT_TRUE(OutcomeUnknown(reply.error()));
  Release();
  EXPECT_EQ(RowOf(Get("next")), "next");
  EXPECT_EQ(server_->stats().connections_accepted, 1u);
}

TEST_F(CallTest, QueuedCallsPastTheirDeadlineAreNotRun) {
  ServerOptions options;
  options.queues[0] = {1, 100};
  Restart(options);
  auto first = GetAsync("block");  // occupies the only data thread
  WaitBlocked(1);
  const hbase::pb::MutateRequest mutate = MakePut("r");
  const auto late = channel()->CallSync(methods::kMutate, mutate, CallOptions{Millis(50)});
  EXPECT_EQ(late.error().code(), Code::kTimeout);
  // The server's clock for a call starts a little later than the client's: let it run out there too.
  EXPECT_EQ(Get("r", Millis(150)).error().code(), Code::kTimeout);
  Unblock();
  EXPECT_EQ(RowOf(first.get()), "block");
  EXPECT_TRUE(Eventually([&] { return server_->stats().calls_expired >= 1; }));
  EXPECT_EQ(mutations_, 0);
}

TEST_F(CallTest, FullQueueRefusesAndOtherClassesGoOn) {
  ServerOptions options;
  options.queues[0] = {1, 2};
  Restart(options);
  std::vector<std::future<GetReply>> calls;
  calls.push_back(GetAsync("block"));
  WaitBlocked(1);
  for (int i = 0; i < 5; ++i) calls.push_back(GetAsync("r"));
  ASSERT_TRUE(Eventually([&] { return server_->stats().calls_refused == 3; }));
  EXPECT_TRUE(channel()->CallSync(methods::kScan, hbase::pb::ScanRequest()).ok());
  Unblock();
  int refused = 0;
  for (auto& call : calls) {
    const GetReply reply = call.get();
    if (reply.ok()) continue;
    ++refused;
    EXPECT_EQ(reply.error().remote_class(), exception::kCallQueueTooBig);
    EXPECT_TRUE(IsTransient(reply.error()));
  }
  EXPECT_EQ(refused, 3);
}

TEST_F(CallTest, LostConnectionFailsItsCallsWithUnknownOutcome) {
  auto held = GetAsync("hold");
  WaitHeld(1);
  const std::uint16_t port = server_->port();
  server_->Stop();
  const GetReply reply = held.get();
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code(), Code::kUnavailable);
  EXPECT_EQ(reply.error().remote_class(), kConnectionLost);
  EXPECT_TRUE(OutcomeUnknown(reply.error()));
  // No process listens, so the call was certainly not executed.
  const auto refused = pool_->CallSync(methods::kGet, {"127.0.0.1", port}, MakeGet("r"));
  EXPECT_EQ(refused.error().remote_class(), kNotSent);
  EXPECT_FALSE(OutcomeUnknown(refused.error()));
}

TEST_F(CallTest, ReconnectsByItself) {
  const Endpoint there = endpoint();
  const auto channel = pool_->Get(methods::kClientService, there);
  EXPECT_TRUE(channel->CallSync(methods::kGet, MakeGet("r")).ok());
  auto pool = std::move(pool_);  // survives the restart
  server_->Stop();
  ServerOptions options;
  options.port = there.port;
  Restart(options);
  EXPECT_TRUE(Eventually([&] { return channel->CallSync(methods::kGet, MakeGet("r")).ok(); }));
}

TEST_F(CallTest, StopFailsWhatIsOutstanding) {
  auto held = GetAsync("hold");
  WaitHeld(1);
  const auto stopped = channel();
  pool_->Stop();
  EXPECT_EQ(held.get().error().code(), Code::kAborted);
  EXPECT_EQ(stopped->CallSync(methods::kGet, MakeGet("r")).error().code(), Code::kAborted);
  EXPECT_EQ(pool_->Get("X", endpoint())->CallSync(methods::kGet, MakeGet("r")).error().code(), Code::kAborted);
}

TEST_F(CallTest, ForgetCutsConnections) {
  auto held = GetAsync("hold");
  WaitHeld(1);
  pool_->Forget(endpoint());
  EXPECT_EQ(held.get().error().remote_class(), kConnectionLost);
  EXPECT_EQ(RowOf(Get("r")), "r");
}

TEST_F(CallTest, TheEndOfAnIdleConnectionIsReported) {
  std::promise<Endpoint> ended;
  ChannelPoolOptions options;
  options.connection_ended = [&ended](const Endpoint& of) { ended.set_value(of); };
  ChannelPool pool(options);
  ASSERT_TRUE(pool.Get(methods::kClientService, endpoint())->CallSync(methods::kMutate, MakePut("r")).ok());
  const Endpoint wanted = endpoint();
  server_->Stop();
  auto told = ended.get_future();
  ASSERT_EQ(told.wait_for(std::chrono::seconds(60)), std::future_status::ready);
  EXPECT_EQ(told.get(), wanted);
}

TEST_F(CallTest, HookDropsAndDelays) {
  std::atomic<bool> drop_answers{true};
  ChannelPoolOptions options;
  options.hook = [&](const TransportEvent& event) {
    if (event.is_request) return TransportAction{false, Millis(event.method == "Mutate" ? 30 : 0)};
    return TransportAction{drop_answers.load(), Millis(0)};
  };
  ChannelPool pool(options);
  const auto channel = pool.Get(methods::kClientService, endpoint());
  const hbase::pb::MutateRequest mutate = MakePut("r");
  const auto lost = channel->CallSync(methods::kMutate, mutate, CallOptions{Millis(300)});
  EXPECT_EQ(lost.error().code(), Code::kTimeout);
  EXPECT_EQ(mutations_, 1);  // executed, and only the answer is missing
  drop_answers = false;
  const TimePoint start = SystemClock().Now();
  EXPECT_TRUE(channel->CallSync(methods::kMutate, mutate).ok());
  EXPECT_GE(SystemClock().Now() - start, Millis(30));
}

TEST_F(CallTest, LostAnswerIsAnUnknownOutcome) {
  FaultSpec fault;
  fault.action = FaultAction::kFail;
  fault.match = "Mutate";
  FaultPoints::Instance().Arm("rpc.before_reply", fault);
  const hbase::pb::MutateRequest mutate = MakePut("r");
  const auto lost = channel()->CallSync(methods::kMutate, mutate);
  FaultPoints::Instance().DisarmAll();
  ASSERT_FALSE(lost.ok());
  EXPECT_EQ(lost.error().remote_class(), kConnectionLost);
  EXPECT_EQ(mutations_, 1);
}

TEST_F(CallTest, RequestsWithoutRequiredFieldsAreRefusedBeforeSending) {
  const auto reply = channel()->CallSync(methods::kGet, hbase::pb::GetRequest());
  EXPECT_EQ(reply.error().code(), Code::kInvalidArgument);
}

TEST_F(CallTest, PortTakenIsSaid) {
  RpcServer second({.port = server_->port()});
  const Status started = second.Start();
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().code(), Code::kAlreadyExists);
  EXPECT_NE(started.error().message().find(std::to_string(server_->port())), std::string::npos);
}

}  // namespace
}  // namespace ratchet::rpc
