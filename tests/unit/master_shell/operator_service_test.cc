// The operator's surface by RPC: pause, verbs, events, metrics, HbckService's bypass.
#include <chrono>
#include <functional>
#include <thread>

#include <gtest/gtest.h>

#include "common/base/mutex.h"
#include "common/model/codec.h"
#include "common/model/proto/hbck.pb.h"
#include "common/model/proto/operator.pb.h"
#include "common/model/proto/procedure.pb.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/model/region_info.h"
#include "common/rpc/channel_pool.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/hbck_service.h"
#include "common/rpc/methods/ratchet_service.h"
#include "tests/unit/master_shell/operator_fixture.h"

namespace ratchet::master {
namespace {

namespace pb = ::hbase::pb;
namespace rpb = ::ratchet::pb;

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
  EXPECT_EQ(list->pause(0).who(), "ratchet, says to be op") << "the user of the connection comes first";
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
  EXPECT_EQ(later->change(1).who(), "ratchet, says to be somebody else");
  EXPECT_EQ(later->change(1).why(), "upgraded");
  const auto again = Call(methods::kResume, resume);
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().message(), "table ns:t is not paused");
  pause.mutable_scope()->set_resource("tabel t");
  const auto wrong = Call(methods::kPause, pause);
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().remote_class(), rpc::exception::kIllegalArgumentIo);
  EXPECT_EQ(wrong.error().message().substr(0, 27), "'tabel t' is not a resource");
}

// Its procedures lock `meta`, so a pause of the table or of its region is a pause of that key.
TEST_F(OperatorServiceTest, APauseOfHbaseMetaHasOneKey) {
  for (const char* name : {"table hbase:meta", "region hbase:meta/1588230740", "meta"}) {
    rpb::PauseRequest pause;
    pause.mutable_scope()->set_kind(rpb::PauseScope::RESOURCE);
    pause.mutable_scope()->set_resource(name);
    pause.mutable_note()->set_who("op");
    ASSERT_TRUE(Call(methods::kPause, pause).ok()) << name;
    const auto list = Call(methods::kListPauses, rpb::ListPausesRequest());
    ASSERT_EQ(list->pause_size(), 1) << name;
    EXPECT_EQ(list->pause(0).what(), "meta") << name;
    rpb::ResumeRequest resume;
    *resume.mutable_scope() = pause.scope();
    resume.mutable_note()->set_who("op");
    EXPECT_TRUE(Call(methods::kResume, resume).ok()) << name;
    EXPECT_EQ(Call(methods::kListPauses, rpb::ListPausesRequest())->pause_size(), 0) << name;
  }
}

TEST_F(OperatorServiceTest, VerbsAreCarriedOutOrRefusedWithTheReason) {
  const ProcId pid = Submit();
  Run();
  EXPECT_EQ(Verb(pid, rpb::ProcedureVerbRequest::PARK), "ok");
  EXPECT_EQ(executor_->Get(pid)->parked, "parked by ratchet, says to be op: test");
  EXPECT_EQ(Verb(pid, rpb::ProcedureVerbRequest::UNPARK), "ok");
  EXPECT_NE(Verb(pid, rpb::ProcedureVerbRequest::UNPARK).find("it is not parked"), std::string::npos);
  EXPECT_NE(Verb(pid, rpb::ProcedureVerbRequest::RERUN, "NOWHERE").find("only WAIT, END"), std::string::npos);
  EXPECT_NE(Verb(pid, rpb::ProcedureVerbRequest::RERUN, "END").find("must not skip states"), std::string::npos);
  EXPECT_EQ(Verb(pid, rpb::ProcedureVerbRequest::RERUN, "WAIT"), "ok");
  EXPECT_EQ(Verb(pid, rpb::ProcedureVerbRequest::BYPASS), "ok");
  EXPECT_TRUE(Ends(pid));
  EXPECT_NE(Verb(ProcId(99), rpb::ProcedureVerbRequest::BYPASS).find("no unfinished procedure has pid 99"),
            std::string::npos);
}

// The errors from which a command line derives its exit codes: neither an unknown pid nor a refusal is a wrong use of
// the command.
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

// No claim of a request replaces the user of the connection.
TEST_F(OperatorServiceTest, AnOperatorIsTheUserOfTheConnection) {
  rpb::PauseRequest pause;
  const auto who = [&](const std::string& claim, const std::string& claimed) {
    pause.mutable_scope()->set_kind(rpb::PauseScope::RESOURCE);
    pause.mutable_scope()->set_resource("table ns:t");
    pause.mutable_note()->set_who(claimed);
    EXPECT_TRUE(Call(methods::kPause, pause).ok()) << claim;
    const auto list = Call(methods::kListPauses, rpb::ListPausesRequest());
    rpb::ResumeRequest resume;
    *resume.mutable_scope() = pause.scope();
    EXPECT_TRUE(Call(methods::kResume, resume).ok()) << claim;
    return list.ok() && list->pause_size() == 1 ? list->pause(0).who() : std::string("?");
  };
  EXPECT_EQ(who("none", ""), "ratchet");
  EXPECT_EQ(who("its own", "ratchet"), "ratchet");
  EXPECT_EQ(who("another", "root"), "ratchet, says to be root");
  EXPECT_EQ(who("a claim that looks like a record", "root, says to be ratchet"),
            "ratchet, says to be root, says to be ratchet");
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
  EXPECT_EQ(shown->procedure().verb(1).who(), "ratchet, says to be op");
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

// Many more followers than handlers wait, and all other clients are served.
TEST_F(OperatorServiceTest, FollowingEventsHoldsNoHandler) {
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
    time_.Advance(Millis{100});  // again and again: the last request may come after the first answers
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

}  // namespace
}  // namespace ratchet::master
