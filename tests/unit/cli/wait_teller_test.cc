// What a waiting client tells its user.
#include <thread>

#include <gtest/gtest.h>

#include "common/cli/wait_teller.h"

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

TEST(WaitText, NamesTheMemberOfTheTreeThatStandsInTheWay) {
  pb::GetProcedureResponse answer;
  *answer.mutable_procedure() = InfoOfPid(105, "CreateTable");
  answer.mutable_procedure()->set_waits_for("children pid=106");
  answer.mutable_procedure()->add_children(106);
  *answer.add_tree() = answer.procedure();
  *answer.add_tree() = InfoOfPid(106, "TransitRegionState");
  EXPECT_EQ(WaitText(answer), "pid 105 goes on: CreateTable, step OPEN");
  answer.mutable_tree(1)->set_last_error("UNAVAILABLE: no space");
  answer.mutable_tree(1)->set_attempt(4);
  EXPECT_EQ(WaitText(answer), "pid 105 waits: pid 106 TransitRegionState: UNAVAILABLE: no space (attempt 4)");
  answer.mutable_tree(1)->set_finished(true);
  EXPECT_EQ(WaitText(answer), "pid 105 goes on: CreateTable, step OPEN");
  answer.mutable_procedure()->set_finished(true);
  EXPECT_EQ(WaitText(answer), "");
}

TEST(GoOnText, NamesThePidOrTheNonce) {
  client::Activity::View view;
  EXPECT_EQ(GoOnText(view), "");
  view.nonce = client::NonceOfRequest{7, 8};
  EXPECT_NE(GoOnText(view).find("--nonce 7:8"), std::string::npos);
  view.pid = 105;
  EXPECT_NE(GoOnText(view).find("ratchet wait 105"), std::string::npos);
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

}  // namespace
}  // namespace ratchet::cli
