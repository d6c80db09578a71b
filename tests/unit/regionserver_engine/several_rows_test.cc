// S41 (atomic conditional commit): one atomic mutation of several rows of a region, with conditions on any of them.
#include <gtest/gtest.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "regionserver/filter/comparator_kinds.h"
#include "regionserver/region/region_errors.h"
#include "tests/unit/regionserver_engine/engine_world.h"

namespace ratchet::regionserver {
namespace {

Condition ValueIs(const std::string& row, const std::string& value) {  // "": absent
  Condition condition;
  condition.row = row;
  condition.family = "f";
  condition.qualifier = "q";
  condition.comparator = filters::MakeBinary(value);
  return condition;
}

AtomicMutation Together(const std::vector<AtomicMutation>& parts, std::vector<Condition> conditions = {}) {
  AtomicMutation unit;
  unit.several_rows = true;
  for (const AtomicMutation& part : parts) unit.mutations.push_back(part.mutations.front());
  unit.conditions = std::move(conditions);
  return unit;
}

class SeveralRowsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ConfigureLog({LogLevel::kError, {}});
    world.info.end_key = "m";
    world.settings.row_lock_wait = Millis(20);
    world.Format().value();
    server = std::move(world.Start("a,1,1")).value();
    world.OpenRegion(*server, 1).value();
  }
  void TearDown() override { ConfigureLog({}); }
  Result<MutationResult> Apply(AtomicMutation unit) {
    return std::move(*world.Mutate(*server->region, std::move(unit)));
  }
  // "a=1 b=2" for the rows that have a value.
  std::string Rows() {
    std::string text;
    for (const char* row : {"a", "b", "c"}) {
      const std::string value = world.Read(*server->region, row, "q").value();
      if (!value.empty()) text += std::string(text.empty() ? "" : " ") + row + "=" + value;
    }
    return text;
  }
  std::string ClassOfRefusal(AtomicMutation unit) {
    const auto refused = Apply(std::move(unit));
    return refused.ok() ? "applied" : refused.error().remote_class();
  }
  // Another client's write to row b, at the moment at which a unit of a and b is about to be logged.
  Result<MutationResult> WriteAmidst() {
    Result<MutationResult> amidst = Error(Code::kUnavailable, "not asked");
    AtomicMutation unit = Together({Put("a", "q", "1"), Put("b", "q", "1")});
    unit.guard = [&](const std::vector<Cell>&) -> Status {
      amidst = Apply(Put("b", "q", "other"));
      return Ok();
    };
    EXPECT_TRUE(Apply(unit).ok());
    return amidst;
  }

  EngineWorld world;
  std::unique_ptr<Server> server;
};

TEST_F(SeveralRowsTest, AllRowsChangeInOneEntryOfTheLog) {
  ASSERT_TRUE(Apply(Together({Put("a", "q", "1"), Put("c", "q", "3")})).value().processed);
  const std::uint64_t before = server->region->GetStatus().read_point;
  const auto commit = Together({Put("a", "q", "2"), Put("b", "q", "2"), DeleteRow("c")},
                               {ValueIs("a", "1"), ValueIs("b", ""), ValueIs("c", "3")});
  EXPECT_TRUE(Apply(commit).value().processed);
  EXPECT_EQ(Rows(), "a=2 b=2");
  EXPECT_EQ(server->region->GetStatus().read_point, before + 1);
  EXPECT_FALSE(Apply(commit).value().processed) << "a late duplicate";
  EXPECT_EQ(Rows(), "a=2 b=2");
}

TEST_F(SeveralRowsTest, IncrementsAndAppendsSeeWhatTheUnitHasChangedBefore) {
  const std::string one = EncodeInt64(1);
  ASSERT_TRUE(Apply(Together({Put("a", "q", one), Put("b", "q", "x"), Put("c", "q", "kept")})).ok());
  const auto result = Apply(Together({Increment("a", "q", 1), Append("b", "q", "y"), Put("c", "q", "new"),
                                      Append("c", "q", "er"), Increment("a", "q", 40)}))
                          .value();
  EXPECT_EQ(Rows(), "a=" + EncodeInt64(42) + " b=xy c=newer");
  ASSERT_EQ(result.results.size(), 5U);
  EXPECT_EQ(result.results[0].at(0).value, EncodeInt64(2));
  EXPECT_EQ(result.results[4].at(0).value, EncodeInt64(42));
  const auto refused = Apply(Together({Put("c", "q", "lost"), Increment("b", "q", 1)}));
  EXPECT_FALSE(refused.ok()) << "the value of b is not a number";
  EXPECT_EQ(Rows(), "a=" + EncodeInt64(42) + " b=xy c=newer");
}

// Each mutation sees the earlier ones, and none reads all of them; otherwise this test would take minutes.
TEST_F(SeveralRowsTest, VeryManyIncrementsAreOneUnit) {
  constexpr int kColumns = 30'000;
  AtomicMutation unit;
  for (int i = 0; i < 2 * kColumns; ++i)
    unit.mutations.push_back(Increment("a", "q" + std::to_string(i % kColumns), 21).mutations.front());
  ASSERT_TRUE(Apply(std::move(unit)).ok());
  for (const int column : {0, 1, kColumns - 1})
    EXPECT_EQ(world.Read(*server->region, "a", "q" + std::to_string(column)).value(), EncodeInt64(42));
}

TEST_F(SeveralRowsTest, TheyAreThereAfterACrash) {
  ASSERT_TRUE(Apply(Together({Put("a", "q", "1"), Put("b", "q", "1")})).ok());
  ASSERT_TRUE(Apply(Together({DeleteRow("a"), Put("c", "q", "2")}, {ValueIs("b", "1")})).value().processed);
  server->region->Abandon();
  world.Recover("a,1,1").value();
  server = std::move(world.Start("b,1,2")).value();
  world.OpenRegion(*server, 2).value();
  EXPECT_EQ(Rows(), "b=1 c=2");
}

TEST_F(SeveralRowsTest, OneConditionThatDoesNotHoldLeavesEverythingAsItWas) {
  ASSERT_TRUE(Apply(Put("a", "q", "1")).ok());
  for (const auto& last : {ValueIs("a", "other"), ValueIs("b", "1"), ValueIs("c", "1")}) {
    const auto unit = Together({Put("a", "q", "2"), Put("b", "q", "2")}, {ValueIs("a", "1"), last});
    EXPECT_FALSE(Apply(unit).value().processed);
    EXPECT_EQ(Rows(), "a=1");
  }
}

TEST_F(SeveralRowsTest, LookingAtTheFirstConditionOnlyAppliesALateDuplicate) {
  const ScopedMutant mutant("region.first_condition");
  ASSERT_TRUE(Apply(Put("a", "q", "1")).ok());
  const auto unit = Together({Put("a", "q", "2"), Put("b", "q", "2")}, {ValueIs("a", "1"), ValueIs("b", "1")});
  EXPECT_TRUE(Apply(unit).value().processed);
  EXPECT_EQ(Rows(), "a=2 b=2");
}

TEST_F(SeveralRowsTest, AllRowsAreLocked) {
  const auto amidst = WriteAmidst();
  ASSERT_FALSE(amidst.ok());
  EXPECT_EQ(amidst.error().remote_class(), rpc::exception::kRegionTooBusy);
  EXPECT_EQ(Rows(), "a=1 b=1");
}

TEST_F(SeveralRowsTest, LockingTheFirstRowOnlyLetsAnotherWriteBetween) {
  const ScopedMutant mutant("region.lock_first_row");
  EXPECT_TRUE(WriteAmidst().ok());
}

TEST_F(SeveralRowsTest, ARowThatIsOnlyLookedAtIsLockedToo) {
  Result<MutationResult> amidst = Error(Code::kUnavailable, "not asked");
  AtomicMutation unit = Together({Put("a", "q", "1")}, {ValueIs("b", "")});
  unit.guard = [&](const std::vector<Cell>&) -> Status {
    amidst = Apply(Put("b", "q", "other"));
    return Ok();
  };
  EXPECT_TRUE(Apply(unit).value().processed);
  EXPECT_FALSE(amidst.ok());
}

TEST_F(SeveralRowsTest, APutIsNotHiddenByADeleteOfTheSameMillisecond) {
  ASSERT_TRUE(Apply(DeleteRow("a")).ok());
  ASSERT_TRUE(Apply(Together({Put("a", "q", "1"), DeleteRow("b")})).ok());
  ASSERT_TRUE(Apply(Together({Put("b", "q", "2"), DeleteRow("c")})).ok());
  EXPECT_EQ(Rows(), "a=1 b=2");
}

TEST_F(SeveralRowsTest, RowsOutsideTheRegionAreRefusedAsHBaseRefusesThem) {
  EXPECT_EQ(ClassOfRefusal(Together({Put("x", "q", "1"), Put("a", "q", "1")})), rpc::exception::kWrongRegion);
  EXPECT_EQ(ClassOfRefusal(Together({Put("a", "q", "1"), Put("x", "q", "1")})), rpc::exception::kDoNotRetryIo);
  EXPECT_EQ(ClassOfRefusal(Together({Put("a", "q", "1")}, {ValueIs("x", "")})), rpc::exception::kDoNotRetryIo);
  AtomicMutation one_row = Together({Put("a", "q", "1"), Put("b", "q", "1")});
  one_row.several_rows = false;
  EXPECT_EQ(ClassOfRefusal(one_row), rpc::exception::kDoNotRetryIo);
  EXPECT_EQ(Rows(), "");
}

TEST_F(SeveralRowsTest, ABatchKeepsItsOrderAroundThem) {
  std::vector<AtomicMutation> batch = {
      Put("b", "q", "1"), Together({Put("a", "q", "2"), Put("c", "q", "2")}, {ValueIs("b", "1")}), Put("c", "q", "3")};
  const auto results = world.MutateBatch(*server->region, std::move(batch));
  ASSERT_EQ(results.size(), 3U);
  EXPECT_TRUE(results[1].value().processed) << "it sees what the batch has changed before";
  EXPECT_EQ(Rows(), "a=2 b=1 c=3");
}

TEST_F(SeveralRowsTest, ANonceMakesARepetitionHarmless) {
  AtomicMutation unit = Together({Put("a", "q", "1"), Put("b", "q", "1")}, {ValueIs("a", "")});
  unit.mutations.front().nonce = {7, 9, {}};
  EXPECT_TRUE(Apply(unit).value().processed);
  ASSERT_TRUE(Apply(Put("b", "q", "later")).ok());
  EXPECT_TRUE(Apply(unit).value().processed) << "it was executed";
  EXPECT_EQ(Rows(), "a=1 b=later");
}

}  // namespace
}  // namespace ratchet::regionserver
