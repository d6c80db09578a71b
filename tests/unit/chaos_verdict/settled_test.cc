// Each of these oracles accepts a settled cluster, and finds planted errors.
#include "chaos/verdict/settled.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ratchet::chaos {
namespace {

using ::testing::HasSubstr;

class JudgeIdleTest : public ::testing::Test {
 protected:
  JudgeIdleTest() {
    auto& server = *servers_.add_server();
    server.mutable_server()->set_host_name("h");
    server.mutable_server()->set_port(7);
    server.set_state("ONLINE");
  }
  void ExpectBad(const char* text) {
    const Finding finding = JudgeIdle(status_, servers_);
    EXPECT_FALSE(finding.good);
    EXPECT_THAT(finding.text, HasSubstr(text));
  }
  pb::GetStatusResponse status_;
  pb::ListServersResponse servers_;
};

TEST_F(JudgeIdleTest, NothingGoingOnIsGood) { EXPECT_TRUE(JudgeIdle(status_, servers_).good); }

TEST_F(JudgeIdleTest, ARegionInTransition) {
  status_.set_regions_in_transition(2);
  ExpectBad("2 regions in transition");
}

TEST_F(JudgeIdleTest, AStuckProcedure) {
  status_.set_procedures_stuck(1);
  ExpectBad("1 procedure stuck");
}

TEST_F(JudgeIdleTest, ACrashThatIsBeingHandled) {
  status_.add_dead_server()->set_host_name("h");
  ExpectBad("the crash of 1 server is being handled");
}

TEST_F(JudgeIdleTest, AnOrderThatWaits) {
  servers_.mutable_server(0)->set_dispatch_queued(3);
  ExpectBad("server h,7: 3 orders queued");
}

TEST_F(JudgeIdleTest, AnOrderThatIsSentAgain) {
  servers_.mutable_server(0)->set_dispatch_attempt(2);
  ExpectBad("attempt 2");
}

TEST(JudgeLocksTest, HeldLockAndCycleOfWaitersAreNamed) {
  pb::ListLocksResponse locks;
  EXPECT_TRUE(JudgeLocks(locks).good);
  auto& lock = *locks.add_lock();
  lock.set_resource("table t");
  lock.add_exclusive_holder(12);
  lock.add_exclusive_holder(13);
  EXPECT_FALSE(JudgeLocks(locks).good);
  EXPECT_THAT(JudgeLocks(locks).text, HasSubstr("table t: held by pid 12 and pid 13"));
  locks.clear_lock();
  locks.add_cycle("12 -> 13 -> 12");
  EXPECT_FALSE(JudgeLocks(locks).good);
  EXPECT_THAT(JudgeLocks(locks).text, HasSubstr("12 -> 13 -> 12"));
}

pb::ProcedureInfo Ended(std::uint64_t pid, const std::vector<std::string>& outcomes) {
  pb::ProcedureInfo procedure;
  procedure.set_pid(pid);
  procedure.set_type("CreateTable");
  procedure.set_text("CreateTable table=t");
  procedure.set_state("SUCCESS");
  procedure.set_finished(true);
  for (const auto& outcome : outcomes) {
    auto& step = *procedure.add_history();
    step.set_step("S");
    step.set_outcome(outcome);
  }
  return procedure;
}

TEST(JudgeProceduresTest, WhatEndedOnceIsGood) {
  pb::ListProceduresResponse listed;
  *listed.add_procedure() = Ended(5, {"next", "done"});
  const Finding finding = JudgeProcedures(listed, {listed.procedure(0)});
  EXPECT_TRUE(finding.good) << finding.text;
  EXPECT_THAT(finding.text, HasSubstr("each of 1 ended procedures"));
}

TEST(JudgeProceduresTest, OneThatEndedTwiceIsNamed) {
  const Finding finding = JudgeProcedures({}, {Ended(5, {"done", "done"})});
  EXPECT_FALSE(finding.good);
  EXPECT_THAT(finding.text, HasSubstr("pid 5 CreateTable table=t ended 2 times"));
}

TEST(JudgeProceduresTest, OneThatIsUnfinishedIsNamed) {
  pb::ListProceduresResponse listed;
  auto& procedure = *listed.add_procedure();
  procedure = Ended(6, {"next"});
  procedure.set_finished(false);
  procedure.set_state("WAITING");
  procedure.set_step("ASSIGN");
  procedure.set_parked(true);
  const Finding finding = JudgeProcedures(listed, {});
  EXPECT_FALSE(finding.good);
  EXPECT_THAT(finding.text, HasSubstr("pid 6 CreateTable table=t is WAITING at ASSIGN, parked"));
}

}  // namespace
}  // namespace ratchet::chaos
