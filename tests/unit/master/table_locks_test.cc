// Procedures of one table never interleave: the findings of PREPARE stay true, also while a step retries.
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

class TableLocksTest : public MasterTest {
 protected:
  static constexpr std::uint32_t kEverything = 1000;

  // `first` cannot write to hbase:meta and retries; `second` is requested meanwhile; then meta can be written again.
  template <class First, class Second>
  void BothAtOnce(const std::string& type, First first, Second second) {
    cluster_.options().lost_permille = kEverything;
    first_ = first();
    ASSERT_TRUE(first_.ok()) << first_.error().ToString();
    ASSERT_TRUE(cluster_.RunUntil([&] {
      const auto found = master().executor().FindUnfinished(type);
      return found == std::vector{*first_} &&
             master().executor().Get(*first_)->waiting.kind == procedure::WaitingOn::Kind::kRetry;
    })) << master().Unfinished();
    second_ = second();
    ASSERT_TRUE(second_.ok()) << "refused at once, so nothing was tried: " << second_.error().ToString();
    ASSERT_TRUE(cluster_.RunFor(Millis(300)));
    cluster_.options().lost_permille = 0;
    ExpectSettled();
  }

  Result<ProcId> first_ = ProcId();
  Result<ProcId> second_ = ProcId();
};

TEST_F(TableLocksTest, ADeletionWaitsForAnEnablingThatRetries) {
  cluster_.Boot(2);
  GivenTable("t", 2);
  (void)Disable("t");
  ExpectSettled();
  BothAtOnce(
      "EnableTable", [&] { return Enable("t"); }, [&] { return Delete("t"); });
  EXPECT_EQ(Outcome(first_), "success");
  EXPECT_NE(Outcome(second_).find("not disabled"), std::string::npos) << Outcome(second_);
  EXPECT_EQ(Regions("t").size(), 2U);
  EXPECT_EQ(cluster_.storage().tables.size(), 2U);  // t and hbase:meta
}

TEST_F(TableLocksTest, AnEnablingWaitsForADeletionThatRetries) {
  cluster_.Boot(2);
  GivenTable("t", 2);
  (void)Disable("t");
  ExpectSettled();
  BothAtOnce(
      "DeleteTable", [&] { return Delete("t"); }, [&] { return Enable("t"); });
  EXPECT_EQ(Outcome(first_), "success");
  EXPECT_NE(Outcome(second_), "success");
  EXPECT_TRUE(cluster_.meta().tables().empty());
  EXPECT_TRUE(cluster_.meta().regions().empty());
}

TEST_F(TableLocksTest, OfTwoDisablingsOneIsRefused) {
  cluster_.Boot(2);
  GivenTable("t", 2);
  BothAtOnce(
      "DisableTable", [&] { return Disable("t"); }, [&] { return Disable("t"); });
  EXPECT_EQ(Outcome(first_), "success");
  EXPECT_NE(Outcome(second_).find("not enabled"), std::string::npos) << Outcome(second_);
}

TEST_F(TableLocksTest, OfTwoCreationsOneIsRefused) {
  cluster_.Boot(2);
  BothAtOnce(
      "CreateTable", [&] { return Create("t", 2); }, [&] { return Create("t", 3); });
  EXPECT_EQ(Outcome(first_), "success");
  EXPECT_NE(Outcome(second_).find("exists"), std::string::npos) << Outcome(second_);
  EXPECT_EQ(Regions("t").size(), 2U);
  EXPECT_EQ(cluster_.storage().tables.size(), 2U);
}

// The last change of the table's state was in meta, but its answer was lost. Because of that the next master let others
// change the table, and repeated the change without end (found by the simulation).
TEST_F(TableLocksTest, ADisablingWaitsForTheEndOfACreationThatANewMasterRepeats) {
  cluster_.Boot(2);
  first_ = Create("t", 2);
  ASSERT_TRUE(cluster_.RunUntil([&] {
    const auto row = cluster_.meta().tables().find(TableName("default", "t"));
    return row != cluster_.meta().tables().end() && row->second.state == TableState::kEnabled;
  }));
  ASSERT_EQ(Outcome(first_), "unfinished");
  cluster_.StartMaster();
  ASSERT_TRUE(cluster_.RunUntil([&] { return master().ready(); }));
  BothAtOnce(
      "CreateTable", [&] { return first_; }, [&] { return Disable("t"); });
  EXPECT_EQ(Outcome(first_), "success");
  EXPECT_EQ(Outcome(second_), "success");
  EXPECT_EQ(cluster_.meta().tables().at(TableName("default", "t")).state, TableState::kDisabled);
}

// A region's move waits for the table's lock too, but only until the children begin: a crash procedure may have to
// assign the region meanwhile.
TEST_F(TableLocksTest, ACrashProcedureAssignsRegionsOfATableThatIsBeingEnabled) {
  cluster_.Boot(3);
  GivenTable("t", 3);
  (void)Disable("t");
  ExpectSettled();
  sim::SimServer& victim = OtherThan(MetaHost());
  for (sim::SimServer* server : cluster_.Alive()) server->order_time = Millis(200);
  const auto pid = Enable("t");
  ASSERT_TRUE(cluster_.RunUntil([&] { return master().executor().FindUnfinished("OpenRegion").size() == 3; }));
  cluster_.Kill(victim);
  ExpectServed("t", 3);
  EXPECT_EQ(Outcome(pid), "success");
}

}  // namespace
}  // namespace ratchet::master
