// Locks and order as procedures see them: which waits for which, which goes first, and the views.
#include "tests/unit/procedure/fixture.h"

namespace ratchet::procedure {
namespace {

using ::ratchet::testing::pb::Script;

// HBase's three cases.
TEST_F(ExecutorTest, TwoCreationsOfOneTableGoOneAfterTheOther) {
  Submit(WithLock(ScriptOf("a", {Op(Kind::NEXT), Op(Kind::YIELD), Op(Kind::NEXT)}), "t:ns:t", true, true));
  Submit(WithLock(ScriptOf("b", {Op(Kind::NEXT), Op(Kind::NEXT)}), "t:ns:t", true, true));
  Run();
  EXPECT_EQ(journal_.Story(), "+a1 +a2 +a3 +b1 +b2");
}

TEST_F(ExecutorTest, TwoTablesOfOneNamespaceGoTogether) {
  Submit(WithLock(ScriptOf("a", {Op(Kind::AWAIT_EVENT, "never")}), "t:ns:a", true, true));
  const ProcId other = Submit(WithLock(ScriptOf("b", {Op(Kind::NEXT)}), "t:ns:b", true, true));
  Run();
  EXPECT_EQ(Outcome(other), "success: b");
}

TEST_F(ExecutorTest, NamespaceCannotGoWhileACreationRunsInIt) {
  const ProcId create = Submit(WithLock(ScriptOf("create", {Op(Kind::AWAIT_EVENT, "e")}), "t:ns:a", true, true));
  const ProcId drop = Submit(WithLock(ScriptOf("drop", {Op(Kind::NEXT)}), "n:ns", true));
  Run();
  EXPECT_EQ(Outcome(drop), "running");
  EXPECT_EQ(Info(drop).waiting.kind, WaitingOn::Kind::kLock);
  EXPECT_EQ(Info(drop).waiting.procedures, std::vector<ProcId>{create});
  EXPECT_EQ(executor().WaitFor().Chain(drop), "2 -lock namespace ns-> 1 (event e)");
  journal_.FirstTime("event:e");
  executor().Wake({"e"});
  Run();
  EXPECT_EQ(Outcome(drop), "success: drop");
}

TEST_F(ExecutorTest, LockWithoutHoldIsLetGoWhileWaiting) {
  Submit(WithFlavor(WithLock(ScriptOf("a", {Op(Kind::AWAIT_EVENT, "e")}), "t:x", true), "ScriptPlain"));
  Run();
  const ProcId other = Submit(WithFlavor(WithLock(ScriptOf("b", {Op(Kind::NEXT)}), "t:x", true), "ScriptPlain"));
  Run();
  EXPECT_EQ(Outcome(other), "success: b");
}

TEST_F(ExecutorTest, ChildUsesItsParentsLock) {
  const Script child = WithLock(ScriptOf("", {Op(Kind::NEXT)}), "r:x/r1", true);
  const ProcId pid = Submit(WithLock(ScriptOf("p", {SpawnOp({child, child}), Op(Kind::NEXT)}), "t:x", true, true));
  Run();
  EXPECT_EQ(Outcome(pid), "success: p");
  EXPECT_TRUE(executor().Locks().empty());
}

// The child holds its shared lock in addition to its parent's exclusive one: the view shows both, and a stranger waits
// for both.
TEST_F(ExecutorTest, LocksNameWhoHoldsThemHow) {
  const Script child = WithLock(ScriptOf("", {Op(Kind::AWAIT_EVENT, "e")}), "r:x/r1", true, true);
  const ProcId parent = Submit(WithLock(ScriptOf("p", {SpawnOp({child})}), "t:x", true, true));
  Run();
  const ProcId stranger = Submit(WithLock(ScriptOf("s", {Op(Kind::NEXT)}), "t:x", false));
  Run();
  const auto locks = executor().Locks();
  ASSERT_EQ(locks.size(), 3U);
  EXPECT_EQ(locks[1].key, ResourceKey::Table("x"));
  EXPECT_EQ(locks[1].exclusive, std::vector<ProcId>{parent});
  EXPECT_EQ(locks[1].shared, std::vector<ProcId>{ProcId(2)});
  ASSERT_EQ(locks[1].waiters.size(), 1U);
  EXPECT_EQ(locks[1].waiters[0].pid, stranger);
  EXPECT_EQ(executor().WaitFor().Chain(stranger), "3 -lock table x-> 1 -child-> 2 (event e)");
}

TEST_F(ExecutorTest, ChildThatBreaksTheLockOrderIsRefused) {
  const Script child = WithLock(ScriptOf("", {Op(Kind::NEXT)}), "s:server", true);
  const ProcId pid = Submit(WithLock(ScriptOf("p", {SpawnOp({child}), Op(Kind::NEXT)}), "t:x", true, true));
  Run();
  EXPECT_NE(Outcome(pid).find("lock order"), std::string::npos) << Outcome(pid);
  EXPECT_EQ(journal_.InForce(), "");
}

TEST_F(ExecutorTest, AfterALoadWhatHasBegunAsksForItsLocksBeforeWhatIsNew) {  // HBASE-28263
  const ProcId holder = Submit(WithLock(ScriptOf("x", {Op(Kind::AWAIT_EVENT, "never")}), "t:x", true, true));
  Run();
  const ProcId fresh = Submit(WithLock(ScriptOf("new", {Op(Kind::NEXT)}), "t:x", true));
  const ProcId begun = Submit(WithLock(ScriptOf("begun", {Op(Kind::NEXT)}), "t:x", true));
  Run();
  EXPECT_EQ(Deliver(begun, "noise"), "taken");
  ASSERT_LT(fresh, begun);
  life_->store().Die();
  {
    MutexLock lock(disk_.mutex);
    disk_.records.erase(holder);
  }
  NewMaster();
  Run();
  EXPECT_EQ(journal_.Story(), "+begun1 +new1");
}

TEST_F(ExecutorTest, WhatComesLaterRunsLaterAlsoAfterALoad) {
  const auto submit = [this](const std::string& name) {
    Submit(WithFlavor(ScriptOf(name, {Op(Kind::NEXT), Op(Kind::YIELD), Op(Kind::NEXT)}), "ScriptPlain"));
  };
  for (const char* name : {"a", "b", "c"}) submit(name);
  for (int i = 0; i < 6; ++i)
    ASSERT_TRUE(master().workers().RunOne());  // the first step of each, and the one that
                                               // yields
  EXPECT_EQ(journal_.Story(), "+a1 +b1 +c1");
  NewMaster();
  Run();
  EXPECT_EQ(journal_.Story(), "+a1 +b1 +c1 +a2 +a3 +b2 +b3 +c2 +c3");
}

TEST_F(ExecutorTest, DescendantsOfAnUrgentProcedureAreUrgent) {
  const Script child = WithLock(ScriptOf("c", {Op(Kind::NEXT)}), "r:x/r1", true);
  Submit(WithLock(ScriptOf("crash", {SpawnOp({child}), Op(Kind::NEXT)}), "s:server1", true, true));
  Submit(WithLock(ScriptOf("user", {Op(Kind::NEXT)}), "t:y", true));
  while (master().workers().RunOneUrgent()) {
  }
  EXPECT_EQ(journal_.Story(), "+crash1 +c1 +crash2") << "on the reserved capacity alone";
}

// The one deadlock that the order of locks cannot exclude (advance.h): a succeeded child leaves its lock with its
// parent, S16 (parent keeps child locks), while its sibling waits for an earlier one. The tree that keeps such locks is
// undone; the error names the cycle.
TEST_F(ExecutorTest, ATreeThatWaitsBackwardsGivesWay) {
  const ProcId straight = Submit(WithLock(
      ScriptOf("q", {Op(Kind::AWAIT_EVENT, "go"), SpawnOp({WithLock(ScriptOf("d", {Op(Kind::NEXT)}), "t:b", true)})}),
      "t:a", true, true));
  const ProcId backwards = Submit(ScriptOf("p", {SpawnOp({WithLock(ScriptOf("c1", {Op(Kind::NEXT)}), "t:b", true),
                                                          WithLock(ScriptOf("c2", {Op(Kind::NEXT)}), "t:a", true)})}));
  Run();
  EXPECT_EQ(Outcome(backwards), "running") << "one child done, the other in line";
  EXPECT_TRUE(executor().WaitFor().cycles.empty());
  journal_.FirstTime("event:go");
  executor().Wake({"go"});
  Run();
  EXPECT_EQ(Outcome(straight), "success: q");
  EXPECT_EQ(Outcome(backwards).substr(0, 59), "failed: ABORTED: aborted by the lock manager: deadlock: pid");
  EXPECT_EQ(journal_.InForce(), "d1,q1,q2");
  EXPECT_TRUE(executor().Locks().empty());
}

}  // namespace
}  // namespace ratchet::procedure
