// The operator's surface by RPC: pause, verbs, events, metrics, locks of clients, HbckService's bypass.
#include <chrono>
#include <functional>
#include <thread>

#include <gtest/gtest.h>

#include "common/base/manual_time.h"
#include "common/base/mutex.h"
#include "common/model/proto/hbck.pb.h"
#include "common/model/proto/operator.pb.h"
#include "common/model/proto/procedure.pb.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/rpc/channel_pool.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/hbck_service.h"
#include "common/rpc/methods/lock_service.h"
#include "common/rpc/methods/ratchet_service.h"
#include "common/rpc/procedure_exceptions.h"
#include "common/rpc/server.h"
#include "master/service/master_services.h"
#include "procedure/author/state_machine_procedure.h"
#include "procedure/executor.h"
#include "procedure/lock_procedure.h"
#include "procedure/store/memory_store.h"

namespace ratchet::master {
namespace {

namespace pb = ::hbase::pb;
namespace rpb = ::ratchet::pb;

struct NoData {
  [[nodiscard]] std::string SerializeAsString() const { return {}; }
  bool ParseFromArray(const void* /*bytes*/, int /*size*/) { return true; }
};

// Waits for ever, then ends.
class Waiter final : public procedure::StateMachineProcedure<Waiter, NoData> {
 public:
  static constexpr std::string_view kTypeName = "Waiter";
  enum class State : procedure::StepNo { kWait = 1, kEnd = 2 };
  static constexpr auto Steps() {
    return std::array{On(State::kWait, "WAIT", &Waiter::Wait, kNothingToUndo),
                      On(State::kEnd, "END", &Waiter::End, kNothingToUndo)};
  }
  using StateMachineProcedure::StateMachineProcedure;

 private:
  procedure::StepOutcome Wait(procedure::StepContext& /*ctx*/) { return procedure::Await{}; }
  procedure::StepOutcome End(procedure::StepContext& /*ctx*/) { return procedure::Done{"ended"}; }
};

// A master's executor behind its RPC services; steps run only in Run().
class OperatorServiceTest : public ::testing::Test {
 protected:
  OperatorServiceTest() : store_(std::make_shared<procedure::MemoryMedium>()) {
    registry_.Register<Waiter>();
    registry_.Register<procedure::LockProcedure>();
    executor_ = std::make_unique<procedure::Executor>(
        procedure::Executor::Deps{store_, registry_, workers_, time_, time_, {}}, procedure::Executor::Options{});
    RATCHET_CHECK(executor_->Recover().ok(), "an empty store");
    executor_->Start();
    gate_.Elected();
    gate_.Recovered({nullptr, executor_.get(), &store_, nullptr, executor_->epoch()});
    gate_.WorkersStarted();
    gate_.Ready();
    env_.timers = &time_;
    server_.Add(MakeRatchetService(env_));
    server_.Add(MakeLockService(env_));
    server_.Add(MakeHbckService(env_));
    RATCHET_CHECK(server_.Start().ok(), "a free port");
  }
  ~OperatorServiceTest() override {
    pool_.Stop();
    server_.Stop();
    executor_->Stop();
  }

  template <class Request, class Response>
  Result<Response> Call(const rpc::Method<Request, Response>& method, const std::type_identity_t<Request>& request) {
    auto answer = pool_.CallSync(method, {"127.0.0.1", server_.port()}, request);
    if (!answer.ok()) return answer.error();
    return answer->message;
  }
  ProcId Submit() { return executor_->Submit(std::make_unique<Waiter>()).value(); }
  void Run() { workers_.RunUntilIdle(); }
  // A verb is answered when it is durable; the thread that answers queues the procedure right after.
  [[nodiscard]] bool RunUntil(const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < deadline) {
      Run();
      if (condition()) return true;
      std::this_thread::yield();
    }
    return false;
  }
  [[nodiscard]] bool Ends(ProcId pid) {
    return RunUntil([this, pid] { return executor_->GetResult(pid).finished(); });
  }
  std::string Verb(ProcId pid, rpb::ProcedureVerbRequest::Verb verb, const std::string& step = {}) {
    rpb::ProcedureVerbRequest request;
    request.set_verb(verb);
    request.set_pid(pid.value());
    request.set_step(step);
    request.mutable_note()->set_who("op");
    request.mutable_note()->set_why("test");
    const auto answer = Call(methods::kProcedureVerb, request);
    return answer.ok() ? "ok" : std::string(rpc::ClassOf(answer.error())) + ": " + answer.error().message();
  }

  ManualTime time_;
  procedure::MemoryStore store_;
  procedure::ProcedureRegistry registry_;
  procedure::ManualWorkers workers_;
  std::unique_ptr<procedure::Executor> executor_;
  MasterGate gate_{{"h", 1, 1}, "cluster-x", "test", time_};
  LoadBook loads_;
  ServiceEnv env_{gate_,
                  loads_,
                  "/root",
                  [] { return std::vector<ServerName>{}; },
                  [](const std::string&) {},
                  [](const std::string&) {}};
  rpc::RpcServer server_{rpc::ServerOptions{}};
  rpc::ChannelPool pool_{rpc::ChannelPoolOptions{}};
};

TEST_F(OperatorServiceTest, PauseIsListedWithWhoAndWhyAndTakenBack) {
  rpb::PauseRequest pause;
  pause.mutable_scope()->set_kind(rpb::PauseScope::RESOURCE);
  pause.mutable_scope()->set_resource("table ns:t");
  pause.mutable_note()->set_who("op");
  pause.mutable_note()->set_why("upgrade");
  const auto paused = Call(methods::kPause, pause);
  ASSERT_TRUE(paused.ok()) << paused.error().ToString();
  EXPECT_EQ(paused->running_size(), 0);
  const auto list = Call(methods::kListPauses, rpb::ListPausesRequest());
  ASSERT_EQ(list->pause_size(), 1);
  EXPECT_EQ(list->pause(0).what(), "table ns:t");
  EXPECT_EQ(list->pause(0).who(), "op");
  EXPECT_EQ(list->pause(0).why(), "upgrade");
  rpb::ResumeRequest resume;
  *resume.mutable_scope() = pause.scope();
  resume.mutable_note()->set_who("somebody else");
  resume.mutable_note()->set_why("upgraded");
  EXPECT_TRUE(Call(methods::kResume, resume).ok());
  const auto later = Call(methods::kListPauses, rpb::ListPausesRequest());
  EXPECT_EQ(later->pause_size(), 0);
  ASSERT_EQ(later->change_size(), 2) << "also of a pause that is over";
  EXPECT_FALSE(later->change(0).resume());
  EXPECT_EQ(later->change(0).why(), "upgrade");
  EXPECT_TRUE(later->change(1).resume());
  EXPECT_EQ(later->change(1).what(), "table ns:t");
  EXPECT_EQ(later->change(1).who(), "somebody else");
  EXPECT_EQ(later->change(1).why(), "upgraded");
  const auto again = Call(methods::kResume, resume);
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().message(), "table ns:t is not paused");
  pause.mutable_scope()->set_resource("tabel t");
  const auto wrong = Call(methods::kPause, pause);
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().remote_class(), rpc::exception::kIllegalArgumentIo);
  EXPECT_EQ(wrong.error().message().substr(0, 24), "'tabel t' is no resource");
}

TEST_F(OperatorServiceTest, VerbsAreCarriedOutOrRefusedWithTheReason) {
  const ProcId pid = Submit();
  Run();
  EXPECT_EQ(Verb(pid, rpb::ProcedureVerbRequest::PARK), "ok");
  EXPECT_EQ(executor_->Get(pid)->parked, "parked by op: test");
  EXPECT_EQ(Verb(pid, rpb::ProcedureVerbRequest::UNPARK), "ok");
  EXPECT_NE(Verb(pid, rpb::ProcedureVerbRequest::UNPARK).find("it is not parked"), std::string::npos);
  EXPECT_NE(Verb(pid, rpb::ProcedureVerbRequest::RERUN, "NOWHERE").find("only WAIT, END"), std::string::npos);
  EXPECT_NE(Verb(pid, rpb::ProcedureVerbRequest::RERUN, "END").find("may not skip states"), std::string::npos);
  EXPECT_EQ(Verb(pid, rpb::ProcedureVerbRequest::RERUN, "WAIT"), "ok");
  EXPECT_EQ(Verb(pid, rpb::ProcedureVerbRequest::BYPASS), "ok");
  EXPECT_TRUE(Ends(pid));
  EXPECT_NE(Verb(ProcId(99), rpb::ProcedureVerbRequest::BYPASS).find("no unfinished procedure has pid 99"),
            std::string::npos);
}

// What a command line makes its exit codes of: an unknown pid is not a wrong use of the command, a refusal neither.
TEST_F(OperatorServiceTest, EveryVerbSaysThatItDoesNotKnowAPid) {
  using Request = rpb::ProcedureVerbRequest;
  const std::string kUnknown(rpc::exception::kUnknownProcedure);
  for (int verb = Request::Verb_MIN; verb <= Request::Verb_MAX; ++verb) {
    if (!Request::Verb_IsValid(verb)) continue;
    const std::string answer = Verb(ProcId(99), static_cast<Request::Verb>(verb), "WAIT");
    EXPECT_EQ(answer.substr(0, answer.find(':')), kUnknown) << Request::Verb_Name(static_cast<Request::Verb>(verb));
    EXPECT_NE(answer.find("has pid 99"), std::string::npos) << answer;
  }
  rpb::PauseRequest pause;
  pause.mutable_scope()->set_kind(rpb::PauseScope::PROCEDURE);
  pause.mutable_scope()->set_pid(99);
  const auto paused = Call(methods::kPause, pause);
  ASSERT_FALSE(paused.ok());
  EXPECT_EQ(paused.error().remote_class(), kUnknown);
  rpb::ResumeRequest resume;
  *resume.mutable_scope() = pause.scope();
  const auto resumed = Call(methods::kResume, resume);
  ASSERT_FALSE(resumed.ok());
  EXPECT_EQ(resumed.error().code(), Code::kNotFound);
  const ProcId pid = Submit();
  EXPECT_EQ(Verb(pid, Request::UNPARK).find(kUnknown), std::string::npos);
}

TEST_F(OperatorServiceTest, VerbsAreShownWithTheProcedure) {
  const ProcId pid = Submit();
  Run();
  EXPECT_EQ(Verb(pid, rpb::ProcedureVerbRequest::PARK), "ok");
  EXPECT_EQ(Verb(pid, rpb::ProcedureVerbRequest::BYPASS), "ok");
  EXPECT_TRUE(Ends(pid));
  rpb::GetProcedureRequest request;
  request.set_pid(pid.value());
  const auto shown = Call(methods::kGetProcedure, request);
  ASSERT_TRUE(shown.ok()) << shown.error().ToString();
  EXPECT_TRUE(shown->procedure().bypassed());
  ASSERT_EQ(shown->procedure().verb_size(), 2);
  EXPECT_EQ(shown->procedure().verb(0).verb(), "park");
  EXPECT_EQ(shown->procedure().verb(1).verb(), "bypass");
  EXPECT_EQ(shown->procedure().verb(1).who(), "op");
  EXPECT_EQ(shown->procedure().verb(1).why(), "test");
  EXPECT_EQ(shown->wait_chain_size(), 0);
}

TEST_F(OperatorServiceTest, TheHistorySaysWhoRanAStepWhenAndForHowLong) {
  const ProcId pid = Submit();
  time_.Advance(Millis{1'500});
  Run();
  EXPECT_EQ(Verb(pid, rpb::ProcedureVerbRequest::BYPASS), "ok");
  EXPECT_TRUE(Ends(pid));
  rpb::GetProcedureRequest request;
  request.set_pid(pid.value());
  const auto shown = Call(methods::kGetProcedure, request);
  ASSERT_TRUE(shown.ok()) << shown.error().ToString();
  ASSERT_EQ(shown->procedure().history_size(), 1) << "kept after its end";
  const rpb::ProcedureStepRecord& step = shown->procedure().history(0);
  EXPECT_EQ(step.step(), "WAIT");
  EXPECT_EQ(step.outcome(), "await");
  EXPECT_EQ(step.worker(), 1U);
  EXPECT_EQ(step.epoch(), executor_->epoch().value());
  EXPECT_EQ(step.began_wall_ms(), 1'700'000'001'500U);
  EXPECT_TRUE(step.has_took_us());
}

TEST_F(OperatorServiceTest, HbckServiceBypasses) {
  const ProcId pid = Submit();
  Run();
  pb::BypassProcedureRequest request;
  request.add_proc_id(pid.value());
  request.add_proc_id(99);
  const auto answer = Call(methods::kBypassProcedure, request);
  ASSERT_TRUE(answer.ok()) << answer.error().ToString();
  ASSERT_EQ(answer->bypassed_size(), 2);
  EXPECT_TRUE(answer->bypassed(0));
  EXPECT_FALSE(answer->bypassed(1));
  EXPECT_TRUE(Ends(pid));
}

TEST_F(OperatorServiceTest, EventsAndMetrics) {
  const ProcId pid = Submit();
  Run();
  rpb::ListEventsRequest request;
  auto events = Call(methods::kListEvents, request);
  ASSERT_TRUE(events.ok());
  ASSERT_EQ(events->event_size(), 3);
  EXPECT_EQ(events->event(0).kind(), "submitted");
  EXPECT_EQ(events->event(0).type(), "Waiter");
  EXPECT_EQ(events->event(2).kind(), "suspended");
  request.set_epoch(events->epoch());
  request.set_after(events->last());
  EXPECT_EQ(Verb(pid, rpb::ProcedureVerbRequest::ABORT), "ok");
  EXPECT_TRUE(Ends(pid));
  events = Call(methods::kListEvents, request);
  ASSERT_GE(events->event_size(), 2);
  EXPECT_EQ(events->event(0).kind(), "failed");
  EXPECT_EQ(events->event(events->event_size() - 1).kind(), "ended");
  request.set_epoch(events->epoch() + 1);
  EXPECT_EQ(Call(methods::kListEvents, request)->event(0).kind(), "submitted")
      << "another master's number means nothing here";
  const auto metrics = Call(methods::kGetMetrics, rpb::GetMetricsRequest());
  ASSERT_EQ(metrics->type_size(), 1);
  EXPECT_EQ(metrics->type(0).failed(), 1u);
}

// Many more followers than handlers wait, and all others are served.
TEST_F(OperatorServiceTest, WhoFollowsTheEventsHoldsNoHandler) {
  rpb::ListEventsRequest request;
  request.set_epoch(executor_->epoch().value());
  request.set_after(executor_->Activities(0, 1).last);
  request.set_wait_ms(60'000);
  constexpr int kFollowers = 40;
  Mutex mutex;
  CondVar changed;
  std::vector<Result<rpb::ListEventsResponse>> answers;
  for (int i = 0; i < kFollowers; ++i) {
    pool_.Call(methods::kListEvents, {"127.0.0.1", server_.port()}, request, {},
               [&](Result<rpc::Reply<rpb::ListEventsResponse>> answer) {
                 MutexLock lock(mutex);
                 answers.push_back(answer.ok() ? Result<rpb::ListEventsResponse>(answer->message) : answer.error());
                 changed.NotifyAll();
               });
  }
  const auto pauses = Call(methods::kListPauses, rpb::ListPausesRequest());
  EXPECT_TRUE(pauses.ok()) << pauses.error().ToString();
  Submit();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (true) {
    time_.Advance(Millis{100});  // again and again: the last question may come after the first answers
    MutexLock lock(mutex);
    if (answers.size() == kFollowers || std::chrono::steady_clock::now() > deadline) break;
    changed.WaitFor(mutex, std::chrono::milliseconds(10));
  }
  MutexLock lock(mutex);
  ASSERT_EQ(answers.size(), static_cast<std::size_t>(kFollowers));
  for (const auto& answer : answers) {
    ASSERT_TRUE(answer.ok()) << answer.error().ToString();
    EXPECT_EQ(answer->event(0).kind(), "submitted");
  }
}

TEST_F(OperatorServiceTest, LocksOfClients) {
  pb::LockRequest request;
  request.set_lock_type(pb::EXCLUSIVE);
  EXPECT_EQ(Call(methods::kRequestLock, request).error().remote_class(), rpc::exception::kDoNotRetryIo);
  request.mutable_table_name()->set_namespace_("default");
  request.mutable_table_name()->set_qualifier("t");
  request.set_description("backup");
  request.set_nonce_group(1);
  request.set_nonce(2);
  const auto lock = Call(methods::kRequestLock, request);
  ASSERT_TRUE(lock.ok()) << lock.error().ToString();
  EXPECT_EQ(Call(methods::kRequestLock, request)->proc_id(), lock->proc_id());
  request.set_nonce(3);
  const auto second = Call(methods::kRequestLock, request);
  Run();
  const auto beat = [this](std::uint64_t pid, bool keep) {
    pb::LockHeartbeatRequest heartbeat;
    heartbeat.set_proc_id(pid);
    heartbeat.set_keep_alive(keep);
    return Call(methods::kLockHeartbeat, heartbeat).value();
  };
  const auto locked = [&beat](std::uint64_t pid) {
    return beat(pid, true).lock_status() == pb::LockHeartbeatResponse::LOCKED;
  };
  EXPECT_TRUE(RunUntil([&] { return locked(lock->proc_id()); }));
  rpb::GetProcedureRequest look;
  look.set_pid(second->proc_id());
  const auto waits = Call(methods::kGetProcedure, look);
  ASSERT_EQ(waits->wait_chain_size(), 1);
  EXPECT_EQ(waits->wait_chain(0).substr(0, 19), "2 -lock table t-> 1")
      << "and what that one waits for, if it does not run";
  const auto locks = Call(methods::kListLocks, rpb::ListLocksRequest());
  ASSERT_EQ(locks->wait_chain_size(), 1);
  EXPECT_EQ(locks->wait_chain(0).substr(0, 19), "2 -lock table t-> 1");
  EXPECT_EQ(beat(lock->proc_id(), true).timeout_ms(), 30'000u);
  EXPECT_EQ(beat(second->proc_id(), true).lock_status(), pb::LockHeartbeatResponse::UNLOCKED);
  EXPECT_EQ(beat(lock->proc_id(), false).lock_status(), pb::LockHeartbeatResponse::UNLOCKED);
  EXPECT_TRUE(RunUntil([&] { return locked(second->proc_id()); }));
  EXPECT_EQ(beat(12345, true).lock_status(), pb::LockHeartbeatResponse::UNLOCKED);
}

}  // namespace
}  // namespace ratchet::master
