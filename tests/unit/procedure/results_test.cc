// What is kept about submissions: owners, results, nonces, and when they are removed.
#include "tests/unit/procedure/fixture.h"

namespace ratchet::procedure {
namespace {

class ResultsTest : public ExecutorTest {};

TEST_F(ResultsTest, ASubmissionWithoutAnOwnerBelongsToTheHost) {
  EXPECT_EQ(Info(Submit(ScriptOf("a", {Op(Kind::NEXT)}))).owner, "tester");
  EXPECT_EQ(Info(*executor().Submit(MakeScript(ScriptOf("b", {Op(Kind::NEXT)})))).owner, "the host");
}

TEST_F(ResultsTest, AwaitReturnsTheResultOrThatTheProcedureIsUnknown) {
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::NEXT)}));
  Run();
  const auto result = executor().Await(pid);
  ASSERT_TRUE(result.ok()) << result.error().ToString();
  EXPECT_EQ(result->status, ProcedureResult::Status::kSuccess);
  EXPECT_EQ(executor().Await(ProcId(999))->status, ProcedureResult::Status::kNotFound);
}

// When the executor is stopped, callers that wait get an error and do not wait without end.
TEST_F(ResultsTest, AwaitEndsWithTheExecutor) {
  const ProcId pid = Submit(ScriptOf("a", {Op(Kind::AWAIT_EVENT, "never")}));
  Run();
  executor().Stop();
  EXPECT_EQ(executor().Await(pid).error().code(), Code::kFenced);
}

// HBASE-19756, HBASE-19996
TEST_F(ResultsTest, NoncesOfFailedAndRefusedRequestsGoToo) {
  life_.reset();
  options_.evict_interval = Millis{1'000};
  options_.result_ttl = Millis{60'000};
  const ProcId failed = Submit(ScriptOf("a", {Op(Kind::FAIL, "no")}), {1, 1});
  Run();
  EXPECT_EQ(Submit(ScriptOf("a", {Op(Kind::NEXT)}), {1, 1}), failed);
  int checks = 0;
  SubmitOptions refused;
  refused.nonce = {1, 2};
  refused.pre_check = [&checks] {
    ++checks;
    return Status(Error(Code::kAlreadyExists, "table exists"));
  };
  EXPECT_FALSE(executor().Submit(MakeScript(ScriptOf("b", {Op(Kind::NEXT)})), refused).ok());
  time_.Advance(Millis{62'000});
  EXPECT_EQ(Outcome(failed), "not found");
  EXPECT_FALSE(executor().FindNonce({1, 1}).has_value());
  EXPECT_NE(Submit(ScriptOf("a", {Op(Kind::NEXT)}), {1, 1}), failed) << "a new request";
  EXPECT_FALSE(executor().Submit(MakeScript(ScriptOf("b", {Op(Kind::NEXT)})), refused).ok());
  EXPECT_EQ(checks, 2) << "checked anew";
}

TEST_F(ResultsTest, TheOldestResultsGoWhenThereAreTooMany) {
  life_.reset();
  options_.evict_interval = Millis{1'000};
  options_.max_results = 2;
  std::vector<ProcId> pids;
  for (std::uint64_t i = 1; i <= 5; ++i) pids.push_back(Submit(ScriptOf("a", {Op(Kind::NEXT)}), {2, i}));
  const ProcId live = Submit(ScriptOf("b", {Op(Kind::AWAIT_EVENT, "never")}), {2, 9});
  Run();
  time_.Advance(Millis{1'000});
  EXPECT_EQ(Outcome(pids[2]), "not found");
  EXPECT_EQ(Outcome(pids[3]), "success: a");
  EXPECT_EQ(Outcome(pids[4]), "success: a");
  EXPECT_FALSE(executor().FindNonce({2, 1}).has_value());
  EXPECT_EQ(executor().FindNonce({2, 9}), live) << "what has not finished stays";
  NewMaster();
  EXPECT_EQ(Outcome(pids[0]), "not found");
}

// A client may still wait for the procedure that was submitted first and has ended last.
TEST_F(ResultsTest, TheOldestResultIsTheOneThatEndedFirst) {
  life_.reset();
  options_.evict_interval = Millis{1'000};
  options_.max_results = 1;
  const ProcId slow = Submit(ScriptOf("slow", {Op(Kind::AWAIT_EVENT, "e")}));
  const ProcId quick = Submit(ScriptOf("quick", {Op(Kind::NEXT)}));
  Run();
  time_.Advance(Millis{500});
  journal_.FirstTime("event:e");
  executor().Wake({"e"});
  Run();
  time_.Advance(Millis{500});
  EXPECT_EQ(Outcome(slow), "success: slow");
  EXPECT_EQ(Outcome(quick), "not found");
}

TEST_F(ResultsTest, RefusedNoncesAreBoundedToo) {
  life_.reset();
  options_.evict_interval = Millis{1'000};
  options_.max_results = 2;
  int checks = 0;
  const auto refused = [&](std::uint64_t nonce) {
    SubmitOptions options;
    options.nonce = {3, nonce};
    options.pre_check = [&checks] {
      ++checks;
      return Status(Error(Code::kAlreadyExists, "table exists"));
    };
    EXPECT_FALSE(executor().Submit(MakeScript(ScriptOf("b", {Op(Kind::NEXT)})), options).ok());
  };
  for (std::uint64_t nonce = 1; nonce <= 4; ++nonce) refused(nonce);
  time_.Advance(Millis{1'000});
  refused(4);
  refused(3);
  EXPECT_EQ(checks, 4) << "the newest are remembered";
  refused(1);
  EXPECT_EQ(checks, 5);
}

}  // namespace
}  // namespace ratchet::procedure
