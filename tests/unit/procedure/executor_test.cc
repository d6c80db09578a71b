// Every outcome, events, reports, nonces, results: one master, no crash.
#include <optional>

#include "common/base/mutant.h"
#include "tests/unit/procedure/fixture.h"

namespace ratchet::procedure {
namespace {

using ::ratchet::testing::pb::Script;

TEST_F(ExecutorTest, StepsRunInOrderAndTheResultStays) {
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::NEXT), Op(Kind::NEXT), Op(Kind::DONE, "hello")}));
  EXPECT_EQ(Outcome(pid), "running");
  Run();
  EXPECT_EQ(Outcome(pid), "success: hello");
  EXPECT_EQ(journal_.Story(), "+a1 +a2 +a3");
  EXPECT_EQ(Info(pid).state, ProcState::kSuccess);
  EXPECT_EQ(Info(pid).owner, "tester");
}

TEST_F(ExecutorTest, EachStepIsOneCommit) {
  Submit(ScriptOf("a", {Op(Kind::NEXT), Op(Kind::NEXT), Op(Kind::NEXT)}));
  EXPECT_EQ(disk_.CommitCount(), 1U);
  Run();
  EXPECT_EQ(disk_.CommitCount(), 4U);
}

TEST_F(ExecutorTest, ChildrenFinishBeforeTheParentGoesOn) {
  const Script child = ScriptOf("", {Op(Kind::NEXT), Op(Kind::NEXT)});
  const ProcId pid = Submit(ScriptOf("p", {SpawnOp({child, child, child}), Op(Kind::NEXT)}));
  Run();
  EXPECT_EQ(Outcome(pid), "success: p");
  const std::vector<std::string> log = journal_.Log();
  ASSERT_EQ(log.size(), 8U);
  EXPECT_EQ(log.front(), "+p1");
  EXPECT_EQ(log.back(), "+p2");
  EXPECT_EQ(disk_.Records().size(), 1U) << "children go with their root's end";
}

TEST_F(ExecutorTest, GrandchildrenCount) {
  const Script leaf = ScriptOf("", {Op(Kind::NEXT)});
  const Script middle = ScriptOf("", {SpawnOp({leaf, leaf}), Op(Kind::NEXT)});
  const ProcId pid = Submit(ScriptOf("p", {SpawnOp({middle, middle}), Op(Kind::NEXT)}));
  Run();
  EXPECT_EQ(Outcome(pid), "success: p");
  EXPECT_EQ(journal_.Log().back(), "+p2");
}

TEST_F(ExecutorTest, ChildOnTheLastStep) {
  const ProcId pid = Submit(ScriptOf("p", {SpawnOp({ScriptOf("", {Op(Kind::NEXT)})})}));
  Run();
  EXPECT_EQ(Outcome(pid), "success: p");
}

TEST_F(ExecutorTest, AFailureBehindThePointOfNoReturnMayBeTheEnd) {
  const Script child = WithFlavor(ScriptOf("", {Op(Kind::NEXT)}), "ScriptNoReturn");
  const ProcId pid = Submit(WithFlavor(
      WithLock(ScriptOf("p", {Op(Kind::NEXT), SpawnOp({child}), Op(Kind::END_FAILED, "given up")}), "t:a", true, true),
      "ScriptNoReturn"));
  Run();
  EXPECT_EQ(Outcome(pid), "failed: ABORTED: given up");
  EXPECT_EQ(Info(pid).state, ProcState::kRolledBack);
  EXPECT_EQ(journal_.Story(), "+p1 +p2 +p.a1") << "nothing is undone";
  EXPECT_EQ(disk_.Records().size(), 1U);
  const ProcId next = Submit(WithLock(ScriptOf("n", {Op(Kind::NEXT)}), "t:a", true));
  Run();
  EXPECT_EQ(Outcome(next), "success: n") << "its lock is free";
}

TEST_F(ExecutorTest, NoOtherProcedureEndsWithAnErrorAndNoUndo) {
  const ProcId early = Submit(WithFlavor(ScriptOf("u", {Op(Kind::NEXT), Op(Kind::END_FAILED, "x")}), "ScriptUndo"));
  Run();
  EXPECT_EQ(Outcome(early).substr(0, 6), "failed");
  EXPECT_NE(Outcome(early).find("only a root"), std::string::npos) << "undone like any failure: " << Outcome(early);
  const Script child = WithFlavor(ScriptOf("", {Op(Kind::END_FAILED, "x")}), "ScriptNoReturn");
  const ProcId parent =
      Submit(WithFlavor(ScriptOf("p", {Op(Kind::NEXT), SpawnOp({child}), Op(Kind::NEXT)}), "ScriptNoReturn"));
  Run();
  EXPECT_EQ(Outcome(parent), "running") << "the child is parked";
}

TEST_F(ExecutorTest, YieldIsNotStored) {
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::YIELD)}));
  const std::uint64_t before = disk_.CommitCount();
  ASSERT_TRUE(master().workers().RunOne());
  EXPECT_EQ(disk_.CommitCount(), before);
  Run();
  EXPECT_EQ(Outcome(pid), "success: a");
  EXPECT_EQ(executor().History(pid).at(0).attempts, 2U);
}

TEST_F(ExecutorTest, RetryBacksOffIsVisibleAndNotStored) {
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::RETRY, "not yet", 2)}));
  const std::uint64_t before = disk_.CommitCount();
  Run();
  ProcedureInfo info = Info(pid);
  EXPECT_EQ(info.attempt, 2U);
  EXPECT_EQ(info.last_error->message(), "not yet");
  EXPECT_EQ(info.waiting.kind, WaitingOn::Kind::kRetry);
  ASSERT_TRUE(info.waiting.next_try_in.has_value());
  const Millis first = *info.waiting.next_try_in;
  EXPECT_GE(first.count(), 90);
  EXPECT_LE(first.count(), 110);
  EXPECT_EQ(disk_.CommitCount(), before);
  ASSERT_TRUE(time_.RunNext());
  Run();
  EXPECT_GT(Info(pid).waiting.next_try_in->count(), first.count()) << "the delay grows";
  ASSERT_TRUE(time_.RunNext());
  Run();
  EXPECT_EQ(Outcome(pid), "success: a");
  EXPECT_EQ(Info(pid).attempt, 1U);
}

TEST_F(ExecutorTest, AwaitIsStoredAndWokenByItsEvent) {
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::AWAIT_EVENT, "e"), Op(Kind::NEXT)}));
  Run();
  EXPECT_EQ(Info(pid).state, ProcState::kWaitingTimeout);
  executor().Wake({"other"});
  Run();
  EXPECT_EQ(Info(pid).state, ProcState::kWaitingTimeout);
  journal_.FirstTime("event:e");
  executor().Wake({"e"});
  Run();
  EXPECT_EQ(Outcome(pid), "success: a");
}

TEST_F(ExecutorTest, TimeOutFiresOnce) {
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::AWAIT_EVENT, "e", 500), Op(Kind::AWAIT_EVENT, "f")}));
  Run();
  time_.Advance(Millis{499});
  Run();
  EXPECT_EQ(Info(pid).step_name, "ONE");
  time_.Advance(Millis{1});
  Run();
  EXPECT_EQ(Info(pid).step_name, "TWO");
  time_.Advance(Millis{10'000});
  Run();
  EXPECT_EQ(Info(pid).step_name, "TWO") << "the time-out belongs to the first wait only";
}

// The wake-up comes after the procedure took its ticket and before it waits, here while its commit is in flight.
TEST_F(ExecutorTest, WakeUpBetweenTicketAndParkIsNotLost) {
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::AWAIT_EVENT, "e")}));
  master().store().HoldBack(true);
  ASSERT_TRUE(master().workers().RunOne());
  journal_.FirstTime("event:e");
  executor().Wake({"e"});
  master().store().HoldBack(false);
  EXPECT_EQ(master().store().ReleaseHeld(), 1U);
  Run();
  EXPECT_EQ(Outcome(pid), "success: a");
}

TEST_F(ExecutorTest, AsyncCallRunsTheSameStepAgainWithoutACommit) {
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::ONCE), Op(Kind::NEXT)}));
  const std::uint64_t before = disk_.CommitCount();
  Run();
  EXPECT_EQ(Info(pid).waiting.kind, WaitingOn::Kind::kAsync);
  EXPECT_EQ(Info(pid).waiting.detail, "work");
  EXPECT_EQ(disk_.CommitCount(), before);
  ASSERT_TRUE(journal_.FinishAsync());
  Run();
  EXPECT_EQ(Outcome(pid), "success: a");
  EXPECT_EQ(journal_.Story(), "?a1 +a1 +a2") << "the work is started once";
}

// The result comes between the check and the parking, after an earlier state had waited for a result too: the earlier
// count of arrivals must not count for this state.
TEST_F(ExecutorTest, AResultThatComesBeforeParkingIsNotMissedInALaterState) {
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::ONCE), Op(Kind::ONCE, "early"), Op(Kind::ONCE, "early")}));
  Run();
  ASSERT_TRUE(journal_.FinishAsync());
  Run();
  EXPECT_EQ(Outcome(pid), "success: a");
}

TEST_F(ExecutorTest, AsyncCallThatIsDoneAtOnceNeedsNoSecondRun) {
  journal_.SetAsync(true);
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::ONCE)}));
  Run();
  EXPECT_EQ(Outcome(pid), "success: a");
}

TEST_F(ExecutorTest, LateResultOfForgottenWorkIsIgnored) {
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::ONCE)}));
  Run();
  ASSERT_TRUE(Abort(pid, "me", "test").ok());
  Run();
  EXPECT_EQ(Outcome(pid).substr(0, 6), "failed");
  EXPECT_TRUE(journal_.FinishAsync());
  Run();
  EXPECT_EQ(Outcome(pid).substr(0, 6), "failed");
}

TEST_F(ExecutorTest, ReportIsFoldedCommittedAndWakes) {
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::AWAIT_REPORT, "opened")}));
  Run();
  EXPECT_EQ(Deliver(pid, "noise"), "taken");
  Run();
  EXPECT_EQ(Outcome(pid), "running");
  EXPECT_EQ(Deliver(pid, "noise"), "stale: taken before");
  EXPECT_EQ(Deliver(pid, "throw").substr(0, 8), "INTERNAL");
  EXPECT_EQ(Deliver(pid, "opened"), "taken");
  Run();
  EXPECT_EQ(Outcome(pid), "success: a");
  EXPECT_EQ(Deliver(pid, "again").substr(0, 9), "NOT_FOUND");
}

TEST_F(ExecutorTest, ReportIsNotAcknowledgedBeforeItIsDurable) {
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::AWAIT_REPORT, "opened")}));
  Run();
  master().store().HoldBack(true);
  bool answered = false;
  executor().Deliver(pid, "opened", [&answered](const Result<Absorbed>&) { answered = true; });
  EXPECT_FALSE(answered);
  // A second one queues behind the commit in flight (S11: one commit per pid).
  bool second = false;
  executor().Deliver(pid, "more", [&second](const Result<Absorbed>&) { second = true; });
  master().store().HoldBack(false);
  master().store().ReleaseHeld();
  EXPECT_TRUE(answered);
  EXPECT_TRUE(second);
  Run();
  EXPECT_EQ(Outcome(pid), "success: a");
}

TEST_F(ExecutorTest, ReportDuringAStepsCommitIsNotLost) {
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::AWAIT_REPORT, "opened")}));
  master().store().HoldBack(true);
  ASSERT_TRUE(master().workers().RunOne());
  bool answered = false;
  executor().Deliver(pid, "opened", [&answered](const Result<Absorbed>&) { answered = true; });
  master().store().HoldBack(false);
  while (master().store().ReleaseHeld() > 0) {
  }
  EXPECT_TRUE(answered);
  Run();
  EXPECT_EQ(Outcome(pid), "success: a");
}

TEST_F(ExecutorTest, SystemRecordTravelsWithTheStep) {
  Submit(ScriptOf("a", {Op(Kind::SYSTEM_PUT, "meta=server1")}));
  EXPECT_TRUE(executor().SystemRecords().empty());
  Run();
  EXPECT_EQ(executor().SystemRecords().at("meta"), "server1");
  NewMaster();
  EXPECT_EQ(executor().SystemRecords().at("meta"), "server1");
}

TEST_F(ExecutorTest, NonceGivesTheSamePidWhileRunningAndAfterTheEnd) {
  const Script script = ScriptOf("a", {Op(Kind::NEXT)});
  const ProcId pid = Submit(script, {1, 2});
  EXPECT_EQ(Submit(script, {1, 2}), pid);
  EXPECT_NE(Submit(script, {1, 3}), pid);
  Run();
  EXPECT_EQ(Submit(script, {1, 2}), pid);
  NewMaster();
  EXPECT_EQ(Submit(script, {1, 2}), pid);
  EXPECT_EQ(Outcome(pid), "success: a");
}

TEST_F(ExecutorTest, ConcurrentSubmissionsOfOneNonceGetOnePid) {
  master().store().HoldBack(true);
  std::vector<ProcId> pids;
  for (int i = 0; i < 3; ++i) {
    SubmitOptions options;
    options.nonce = {5, 5};
    executor().SubmitAsync(MakeScript(ScriptOf("a", {Op(Kind::NEXT)})), options,
                           [&pids](const Result<ProcId>& pid) { pids.push_back(*pid); });
  }
  EXPECT_TRUE(pids.empty()) << "not durable yet";
  master().store().HoldBack(false);
  master().store().ReleaseHeld();
  ASSERT_EQ(pids.size(), 3U);
  EXPECT_EQ(pids[0], pids[1]);
  EXPECT_EQ(pids[0], pids[2]);
}

TEST_F(ExecutorTest, ARootKeepsWhereItsRequestCameFrom) {
  SubmitOptions options;
  options.origin = {"10.0.0.7:4011", "MasterService.CreateTable"};
  const Result<ProcId> pid = executor().Submit(MakeScript(ScriptOf("a", {Op(Kind::NEXT)})), options);
  ASSERT_TRUE(pid.ok());
  SubmitOptions hostile;
  hostile.origin = {std::string(100'000, 'p'), std::string("a\n\xff", 3)};
  const Result<ProcId> cut = executor().Submit(MakeScript(ScriptOf("b", {Op(Kind::NEXT)})), hostile);
  ASSERT_TRUE(cut.ok());
  const ProcId plain = Submit(ScriptOf("c", {Op(Kind::NEXT)}));
  NewMaster();
  EXPECT_EQ(Info(*pid).peer, "10.0.0.7:4011");
  EXPECT_EQ(Info(*pid).method, "MasterService.CreateTable");
  EXPECT_EQ(Info(*cut).peer, std::string(kMostOriginBytes, 'p'));
  EXPECT_EQ(Info(*cut).method, "a\\x0A\\xFF");
  EXPECT_EQ(Info(plain).peer + Info(plain).method, "");
}

TEST_F(ExecutorTest, PreCheckFailureAnswersTheNonceToo) {
  int checks = 0;
  SubmitOptions options;
  options.nonce = {9, 9};
  options.pre_check = [&checks] {
    ++checks;
    return Status(Error(Code::kAlreadyExists, "table exists"));
  };
  for (int i = 0; i < 2; ++i) {
    const Result<ProcId> pid = executor().Submit(MakeScript(ScriptOf("a", {Op(Kind::NEXT)})), options);
    ASSERT_FALSE(pid.ok());
    EXPECT_EQ(pid.error().code(), Code::kAlreadyExists);
  }
  EXPECT_EQ(checks, 1);
  EXPECT_TRUE(disk_.Records().empty());
}

// A client retries with the same nonce after a transient refusal.
TEST_F(ExecutorTest, OnlyAFinalRefusalIsRememberedUnderItsNonce) {
  const auto submit = [this](const Error& refusal, std::uint64_t nonce, std::function<bool(const Error&)> is_final) {
    int checks = 0;
    SubmitOptions options;
    options.nonce = {9, nonce};
    options.is_final = std::move(is_final);
    options.pre_check = [&] { return ++checks == 1 ? Status(refusal) : Ok(); };
    EXPECT_FALSE(executor().Submit(MakeScript(ScriptOf("a", {Op(Kind::NEXT)})), options).ok());
    return executor().Submit(MakeScript(ScriptOf("a", {Op(Kind::NEXT)})), options).ok();
  };
  for (const Code code : {Code::kUnavailable, Code::kResourceExhausted, Code::kNoSpace, Code::kTimeout, Code::kAborted,
                          Code::kIo, Code::kInternal}) {
    EXPECT_TRUE(submit(Error(code, "busy"), 10 + static_cast<std::uint64_t>(code), {})) << CodeName(code);
  }
  EXPECT_FALSE(submit(Error(Code::kFailedPrecondition, "no"), 1, {}));
  EXPECT_TRUE(submit(Error(Code::kFailedPrecondition, "in transition"), 2, [](const Error&) { return false; }));
  EXPECT_FALSE(submit(Error(Code::kUnavailable, "no"), 3, [](const Error&) { return true; }));
  const ScopedMutant mutant("procedure.remember_any_refusal");
  EXPECT_FALSE(submit(Error(Code::kUnavailable, "busy"), 4, {}));
}

TEST_F(ExecutorTest, BadSubmissionsAreRefused) {
  EXPECT_EQ(executor().Submit(nullptr).error().code(), Code::kInvalidArgument);
  EXPECT_EQ(executor().Submit(MakeScript(ScriptOf("a", {}))).error().code(), Code::kInvalidArgument);
}

TEST_F(ExecutorTest, ResultsAreEvictedAfterAcknowledgementAndAfterTheirTime) {
  life_.reset();
  options_.evict_interval = Millis{1'000};
  options_.acked_ttl = Millis{5'000};
  options_.result_ttl = Millis{60'000};
  const ProcId acked = Submit(ScriptOf("a", {Op(Kind::NEXT)}), {1, 1});
  const ProcId kept = Submit(ScriptOf("b", {Op(Kind::NEXT)}), {1, 2});
  Run();
  executor().Ack(acked);
  time_.Advance(Millis{7'000});
  EXPECT_EQ(Outcome(acked), "not found");
  EXPECT_EQ(Outcome(kept), "success: b");
  EXPECT_FALSE(executor().FindNonce({1, 1}).has_value()) << "the nonce goes with its procedure (HBASE-19756, 19996)";
  time_.Advance(Millis{60'000});
  EXPECT_EQ(Outcome(kept), "not found");
  EXPECT_TRUE(disk_.Records().empty());
  EXPECT_EQ(executor().FindNonce({1, 2}), std::nullopt);
}

TEST_F(ExecutorTest, WaitersAreNotifiedOfTheEnd) {
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::NEXT)}));
  std::string heard;
  executor().OnFinished(pid, [&heard](const ProcedureResult& result) { heard = result.result; });
  EXPECT_EQ(heard, "");
  Run();
  EXPECT_EQ(heard, "a");
}

// S19 (executed orders are remembered): region servers refuse server-wide orders below it, so it must never pass a
// procedure that can still send.
TEST_F(ExecutorTest, TheLowestLivePidFollowsTheOldestUnfinishedOne) {
  const ProcId quick = Submit(ScriptOf("a", {Op(Kind::NEXT)}));
  const ProcId waits = Submit(ScriptOf("b", {Op(Kind::AWAIT_EVENT, "e"), Op(Kind::NEXT)}));
  const ProcId last = Submit(ScriptOf("c", {Op(Kind::NEXT)}));
  EXPECT_EQ(executor().LowestLivePid(), quick);
  Run();
  EXPECT_EQ(executor().LowestLivePid(), waits) << "a later one has finished before it";
  EXPECT_EQ(executor().Count().all, 3U);
  EXPECT_EQ(executor().Count().unfinished, 1U);
  NewMaster();
  EXPECT_EQ(executor().LowestLivePid(), waits);
  Run();
  journal_.FirstTime("event:e");
  executor().Wake({"e"});
  Run();
  EXPECT_EQ(Outcome(waits), "success: b");
  EXPECT_EQ(executor().LowestLivePid(), last.Next()) << "idle: the next pid";
}

// S19: a procedure that is being stored counts, too: it may send as soon as that is done.
TEST_F(ExecutorTest, TheLowestLivePidDoesNotPassOverAnInsertInFlight) {
  const ProcId first = Submit(ScriptOf("a", {Op(Kind::NEXT)}));
  Run();
  for (const bool mutated : {false, true}) {
    std::optional<ScopedMutant> mutant;
    if (mutated) mutant.emplace("procedure.floor_passes_inserts");
    life_->store().HoldBack(true);
    ProcId pid;
    executor().SubmitAsync(MakeScript(ScriptOf("b", {Op(Kind::NEXT)})), {},
                           [&pid](const Result<ProcId>& got) { pid = got.value(); });
    const ProcId lowest = executor().LowestLivePid();
    life_->store().HoldBack(false);
    life_->store().ReleaseHeld();
    ASSERT_TRUE(pid.valid());
    EXPECT_GT(pid, first);
    EXPECT_EQ(lowest <= pid, !mutated);
    Run();
  }
}

TEST_F(ExecutorTest, HistoryListsEveryStep) {
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::NEXT), Op(Kind::RETRY, "no", 1), Op(Kind::NEXT)}));
  RunAll();
  const std::vector<StepHistoryEntry> history = executor().History(pid);
  ASSERT_EQ(history.size(), 3U);
  EXPECT_EQ(history[0].step_name, "ONE");
  EXPECT_EQ(history[1].attempts, 2U);
  EXPECT_EQ(history[2].outcome, OutcomeKind::kDone);
  EXPECT_EQ(history[2].epoch, executor().epoch());
}

TEST_F(ExecutorTest, MetricsCountSubmittedAndFailed) {
  Submit(ScriptOf("a", {Op(Kind::NEXT)}));
  Submit(ScriptOf("b", {Op(Kind::FAIL, "no")}));
  Run();
  const std::vector<TypeMetrics> metrics = executor().Metrics();
  ASSERT_EQ(metrics.size(), 1U);
  EXPECT_EQ(metrics[0].submitted, 2U);
  EXPECT_EQ(metrics[0].succeeded, 1U);
  EXPECT_EQ(metrics[0].failed, 1U);
}

}  // namespace
}  // namespace ratchet::procedure
