// Operators' verbs at unusual moments: whatever they leave in the middle ends, with a result that says why.
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

class VerbsTest : public MasterTest {
 protected:
  ProcId OnlyOf(const char* type) {
    const auto found = master().executor().FindUnfinished(type);
    return found.size() == 1 ? found.front() : ProcId();
  }
  std::string StepOf(ProcId pid) {
    const auto info = master().executor().Get(pid);
    return info ? info->step_name : "";
  }
  // A disabled table; an operator ends its deletion when the row is gone from hbase:meta and the master has not heard of it.
  void GivenADeletionThatIsCutShort() {
    cluster_.Boot(2);
    GivenTable("t", 2);
    (void)Disable("t");
    ExpectSettled();
    (void)Delete("t");
    ASSERT_TRUE(cluster_.RunUntil([&] { return cluster_.meta().tables().empty(); }));
    ASSERT_TRUE(master().logic().env().tables.Exists(TableName("default", "t"))) << "heard of at once";
    master().executor().Bypass(OnlyOf("DeleteTable"), true, {"op", "enough"}, [](const Status&) {});
    ASSERT_TRUE(cluster_.RunUntil([&] { return !OnlyOf("DeleteTable").valid(); }));
  }
};

// The next request finds the table in memory, and the next master does not: it waited for ever for what will not come back.
TEST_F(VerbsTest, ATableThatAnEndedDeletionTookAwayIsNotWaitedFor) {
  GivenADeletionThatIsCutShort();
  cluster_.options().lost_permille = 1000;
  const auto enabling = Enable("t");
  ASSERT_TRUE(enabling.ok()) << enabling.error().ToString();
  ASSERT_TRUE(cluster_.RunUntil([&] { return StepOf(*enabling) == "SET_ENABLING_TABLE_STATE"; }));
  cluster_.StartMaster();
  cluster_.options().lost_permille = 0;
  ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
  EXPECT_EQ(Outcome(enabling), "NOT_FOUND: table t does not exist");
}

// In the same master it is written again, whole: the ended deletion had not begun with its regions.
TEST_F(VerbsTest, ATableThatAnEndedDeletionTookAwayIsWholeWhenItComesBack) {
  GivenADeletionThatIsCutShort();
  const auto enabling = Enable("t");
  ExpectSettled();
  EXPECT_EQ(Outcome(enabling), "success");
  ExpectServed("t", 2);
}

}  // namespace
}  // namespace ratchet::master
