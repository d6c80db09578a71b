// The messages of a waiting client to its user.
#include <thread>

#include <gtest/gtest.h>

#include "common/tools/cli/progress_reporter.h"
#include "common/tools/cli/progress_text.h"

namespace ratchet::cli {
namespace {

pb::ProcedureInfo InfoOfPid(std::uint64_t pid, const char* type) {
  pb::ProcedureInfo info;
  info.set_pid(pid);
  info.set_type(type);
  info.set_state("WAITING");
  info.set_step("OPEN");
  return info;
}

TEST(WaitText, NamesThePauseItsUserAndReason) {
  pb::GetProcedureResponse answer;
  *answer.mutable_procedure() = InfoOfPid(105, "DisableTable");
  answer.mutable_procedure()->set_paused("table t paused by ann: night shift");
  EXPECT_EQ(WaitText(answer), "pid 105 waits: table t paused by ann: night shift");
  answer.mutable_procedure()->set_paused("everything paused by ann");
  EXPECT_EQ(WaitText(answer), "pid 105 waits: everything paused by ann");
}

TEST(WaitText, NamesTheBlockingMemberOfTheTree) {
  pb::GetProcedureResponse answer;
  *answer.mutable_procedure() = InfoOfPid(105, "CreateTable");
  answer.mutable_procedure()->set_waits_for("children pid=106");
  answer.mutable_procedure()->add_children(106);
  *answer.add_tree() = answer.procedure();
  *answer.add_tree() = InfoOfPid(106, "TransitRegionState");
  EXPECT_EQ(WaitText(answer), "pid 105 continues: CreateTable, step OPEN");
  answer.mutable_tree(1)->set_last_error("UNAVAILABLE: no space");
  answer.mutable_tree(1)->set_attempt(4);
  EXPECT_EQ(WaitText(answer), "pid 105 waits: pid 106 TransitRegionState: UNAVAILABLE: no space (attempt 4)");
  answer.mutable_tree(1)->set_finished(true);
  EXPECT_EQ(WaitText(answer), "pid 105 continues: CreateTable, step OPEN");
  answer.mutable_procedure()->set_finished(true);
  EXPECT_EQ(WaitText(answer), "");
}

TEST(ContinueText, NamesThePidOrTheNonce) {
  client::Activity::View view;
  EXPECT_EQ(ContinueText(view), "");
  view.nonce = client::NonceOfRequest{7, 8};
  EXPECT_NE(ContinueText(view).find("--nonce 7:8"), std::string::npos);
  view.pid = 105;
  EXPECT_NE(ContinueText(view).find("ratchet wait 105"), std::string::npos);
}

TEST(Activity, RecordsOnlyItsOwnThread) {
  const SystemClock clock;
  client::Activity activity(clock);
  {
    client::ActivityMark outer(&activity);
    outer.Attempt("outer");
    std::thread([&] {
      client::ActivityMark other(&activity);
      other.Attempt("other");
      activity.Submitted(9);
    }).join();
    EXPECT_TRUE(activity.Look().active);
    EXPECT_EQ(activity.Look().attempt, "outer");
    EXPECT_FALSE(activity.Look().pid.has_value());
    client::ActivityMark inner(&activity);
    inner.Failed("refused");
    EXPECT_EQ(activity.Look().obstacle, "refused");
  }
  EXPECT_FALSE(activity.Look().active);
}

TEST(ProgressTextTest, CountsWhatWasSpawnedOrWhatTheProcedureSays) {
  pb::GetProcedureResponse answer;
  answer.mutable_procedure()->set_pid(7);
  EXPECT_FALSE(ProgressOf(answer).has_value());
  for (std::uint64_t pid = 7; pid < 11; ++pid) {
    auto& member = *answer.add_tree();
    member.set_pid(pid);
    if (pid > 7) member.set_parent(pid == 10 ? 9 : 7);  // 10 is a grandchild
    member.set_finished(pid == 8);
  }
  auto progress = ProgressOf(answer);
  ASSERT_TRUE(progress.has_value());
  EXPECT_EQ(progress->done, 1);
  EXPECT_EQ(progress->total, 2);
  answer.mutable_procedure()->set_parts_left(12);
  answer.mutable_procedure()->set_parts_total(40);
  progress = ProgressOf(answer);
  EXPECT_EQ(progress->done, 28);
  EXPECT_EQ(progress->total, 40);
  answer.mutable_procedure()->set_parts_left(41);  // no count
  EXPECT_EQ(ProgressOf(answer)->total, 2);
}

TEST(ProgressTextTest, SaysRateAndTimeLeftOnceTheyCanBeTold) {
  EXPECT_EQ(ProgressText({0, 3000}, 0, 0), "0 of 3000 done");
  EXPECT_EQ(ProgressText({1200, 3000}, 0, 30'000), "1200 of 3000 done, 40/s, about 45 s left");
  EXPECT_EQ(ProgressText({100, 30'000}, 60, 40'000), "100 of 30000 done, 1/s, about 498 min left");
  EXPECT_EQ(ProgressText({3000, 3000}, 0, 1'000), "3000 of 3000 done, 3000/s");
}

}  // namespace
}  // namespace ratchet::cli
