// Loads a store whose records are incomplete or contradict each other: no procedure continues as if all were present.
#include "common/base/mutant.h"
#include "procedure/core/record.h"
#include "tests/support/expect_killed.h"
#include "tests/unit/procedure/fixture.h"

namespace ratchet::procedure {
namespace {

using ::ratchet::testing::pb::Script;

class LostRecordsTest : public ExecutorTest {
 protected:
  // The root's record is lost; then the event that the grandchild waits for happens.
  void LoseTheRoot() {
    const Script grandchild = ScriptOf("", {Op(Kind::AWAIT_EVENT, "e"), Op(Kind::FAIL, "late")});
    const Script child = ScriptOf("", {SpawnOp({grandchild}), Op(Kind::NEXT)});
    (void)Submit(ScriptOf("p", {SpawnOp({child}), Op(Kind::NEXT)}));
    Run();
    ASSERT_EQ(disk_.Records().size(), 3U);
    life_->store().Die();
    {
      MutexLock lock(disk_.mutex);
      ASSERT_EQ(disk_.records.erase(ProcId(1)), 1U);
    }
    NewMaster();
    Run();
    journal_.FirstTime("event:e");
    executor().Wake({"e"});
    Run();
  }
  // The child is bypassed, and the master dies before its parent is.
  void BypassOnlyTheChild() {
    (void)Submit(
        ScriptOf("p", {SpawnOp({ScriptOf("", {Op(Kind::AWAIT_EVENT, "e")})}), Op(Kind::NEXT), Op(Kind::NEXT)}));
    Run();
    {
      MutexLock lock(disk_.mutex);
      ProcedureUpsert& record = disk_.records.at(ProcId(2));
      auto decoded = DecodeRecord(record.bytes);
      ASSERT_TRUE(decoded.ok());
      decoded->durable.bypassed = true;
      decoded->durable.state = ProcState::kSuccess;
      decoded->durable.version += 1;
      record.version = decoded->durable.version;
      record.bytes = EncodeRecord(decoded->identity, decoded->durable);
    }
    story_ = journal_.Story();
    NewMaster();
    Run();
  }
  std::string story_;
};

// The lost record contained whether the grandchild may be undone.
TEST_F(LostRecordsTest, NothingBelowAnOrphanRuns) {
  LoseTheRoot();
  EXPECT_EQ(disk_.Records().size(), 2U) << "what was to be kept is gone";
  EXPECT_NE(Info(ProcId(2)).parked.find("orphan"), std::string::npos);
  EXPECT_NE(Info(ProcId(3)).parked.find("stopped: its ancestor"), std::string::npos);
  Status answer = Error(Code::kInternal, "unanswered");
  executor().Bypass(ProcId(2), /*recursive=*/true, {"op", "done by hand"},
                    [&answer](const Status& status) { answer = status; });
  Run();
  EXPECT_TRUE(answer.ok());
  EXPECT_EQ(Outcome(ProcId(2)), "success: ");
}

// The child's work has not been done, so the parent must not continue as if it had.
TEST_F(LostRecordsTest, ABypassTakesTheAncestorsAlongOverADeath) {
  BypassOnlyTheChild();
  EXPECT_EQ(journal_.Story(), story_) << "the parent has gone on";
  EXPECT_TRUE(Info(ProcId(1)).bypassed);
  EXPECT_TRUE(IsTerminal(Info(ProcId(1)).state));
}

#if defined(RATCHET_MUTANTS)
TEST_F(LostRecordsTest, AGrandchildThatRunsOnIsNoticed) {
  const ScopedMutant mutant("procedure.orphans_go_on");
  LoseTheRoot();
  EXPECT_EQ(Info(ProcId(3)).parked.find("stopped: its ancestor"), std::string::npos);
}
TEST_F(LostRecordsTest, AParentThatGoesOnIsNoticed) {
  ExpectKilled(
      "procedure.bypass_by_own_record",
      [&] {
        BypassOnlyTheChild();
        EXPECT_EQ(journal_.Story(), story_) << "the parent has gone on";
      },
      "the parent has gone on");
}
#endif

}  // namespace
}  // namespace ratchet::procedure
