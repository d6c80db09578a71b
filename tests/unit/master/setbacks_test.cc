// Tests of claims: the server whose answer an order awaits, the tables that others must leave alone, and the reason
// that delays the recovery of a server, which is shown as long as it exists.
#include "master/procedures/claims_of.h"

#include "common/base/mutant.h"
#include "master/procedures/core/data.pb.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

procedure::ProcedureInfo InfoOf(const std::string& type, const std::string& data) {
  procedure::ProcedureInfo info;
  info.type = type;
  info.data = data;
  return info;
}

TEST(ClaimsTest, EveryOrderAwaitsItsServerUntilTheAnswer) {
  EXPECT_EQ(TypesThatClaim(kClaimsAnswer).size(), 11U);
  pb::CompactRegionData compaction;
  compaction.set_server("a,1,1");
  EXPECT_EQ(OrderTarget(InfoOf("CompactRegion", compaction.SerializeAsString())), "a,1,1");
  compaction.mutable_answer()->set_outcome(pb::DONE);
  EXPECT_EQ(OrderTarget(InfoOf("CompactRegion", compaction.SerializeAsString())), std::nullopt);
  pb::SplitWalRemoteData split;
  split.set_server("dead,1,1");
  split.set_worker("b,1,1");
  EXPECT_EQ(OrderTarget(InfoOf("SplitWalRemote", split.SerializeAsString())), "b,1,1");
  split.set_settled(true);  // by the end of its server
  EXPECT_EQ(OrderTarget(InfoOf("SplitWalRemote", split.SerializeAsString())), std::nullopt);
  EXPECT_EQ(OrderTarget(InfoOf("SplitWal", split.SerializeAsString())), std::nullopt) << "not an order";
}

TEST(ClaimsTest, TablesAreClaimedFromTheFirstStep) {
  pb::TableData data;
  data.set_ns("n");
  data.set_qualifier("t");
  const auto claims = [&data](const std::string& type) {
    return ClaimsOf(InfoOf(type, data.SerializeAsString()), kClaimsTables);
  };
  ASSERT_EQ(claims("CreateTable").tables.size(), 1U);
  EXPECT_TRUE(claims("CreateTable").tables[0].with_regions);
  EXPECT_FALSE(claims("EnableTable").tables.at(0).with_regions);
  EXPECT_TRUE(claims("TruncateTable").tables.empty()) << "it may wait for a repair, which must not wait for it";
  data.set_directory("n/t.7");
  data.set_old_directory("n/t.3");
  EXPECT_EQ(claims("CreateTable").tables.at(0).directory, "n/t.7");
  EXPECT_EQ(claims("TruncateTable").tables.at(0).directory, "") << "rows under any id may be written";
  EXPECT_EQ(claims("TruncateTable").directories, (std::vector<std::string>{"n/t.7", "n/t.3"}));
  EXPECT_TRUE(claims("ModifyTable").tables.empty());
}

// A damaged log: status counts its split as stuck, and the split gives the reason.
TEST_F(MasterTest, ASplitThatIsRefusedAgainAndAgainIsShownAsStuck) {
  cluster_.Boot(3);
  GivenTable("t", 3);
  sim::SimServer& victim = OtherThan(MetaHost());
  for (sim::SimServer* server : cluster_.Alive()) server->refuse_splits = 1'000'000;
  cluster_.Kill(victim);
  const auto shown = [&]() -> std::optional<procedure::ProcedureInfo> {
    const auto splits = master().executor().FindUnfinished("SplitWal");
    return splits.empty() ? std::nullopt : master().executor().Get(splits.front());
  };
  ASSERT_TRUE(cluster_.RunUntil([&] {
    const auto info = shown();
    const auto setback = info ? SetbackOf(*info) : std::nullopt;
    return setback && setback->times >= 3;  // the condition that status calls stuck
  }));
  EXPECT_NE(shown()->description.text().find("failures="), std::string::npos) << shown()->description.text();
  EXPECT_NE(SetbackOf(*shown())->error.find("did not split"), std::string::npos);
  for (sim::SimServer* server : cluster_.Alive()) server->refuse_splits = 0;
  ExpectServed("t", 3);
}

class SplitPlaceTest : public MasterTest {
 protected:
  // A split waits after a refusal, without its place, and an operator sends it to its worker again. Returns whether it
  // has a place then.
  bool ASplitThatIsSentAgainHasAPlace() {
    cluster_.Boot(3);
    GivenTable("t", 3);
    sim::SimServer& victim = OtherThan(MetaHost());
    for (sim::SimServer* server : cluster_.Alive()) server->refuse_splits = 1'000'000;
    cluster_.Kill(victim);
    const auto holders = [this] { return master().logic().env.split_workers.Holders(); };
    const auto split = [this] { return master().executor().FindUnfinished("SplitWal"); };
    const auto waits = [&] {
      if (split().empty() || !holders().empty()) return false;
      const auto info = master().executor().Get(split().front());
      return info && info->step_name == "RELEASE_SPLIT_WORKER";
    };
    EXPECT_TRUE(cluster_.RunUntil(waits));
    const ProcId pid = split().front();
    for (sim::SimServer* server : cluster_.Alive()) server->refuse_splits = 0;
    master().executor().Rerun(pid, *master().executor().FindStep(pid, "DISPATCH_WAL_TO_WORKER"), {"op", "again"},
                              [](const Status& status) { EXPECT_TRUE(status.ok()) << status.error().ToString(); });
    EXPECT_TRUE(cluster_.RunUntil([this] { return !master().executor().FindUnfinished("SplitWalRemote").empty(); }));
    const bool has = holders() == std::vector{pid};
    ExpectServed("t", 3);
    return has;
  }
};

TEST_F(SplitPlaceTest, ASplitThatIsSentAgainHasAPlaceAtItsWorker) { EXPECT_TRUE(ASplitThatIsSentAgainHasAPlace()); }

TEST_F(SplitPlaceTest, SendingASplitWithoutAPlaceIsNoticed) {
  const ScopedMutant mutant("master.split_without_a_place");
  EXPECT_FALSE(ASplitThatIsSentAgainHasAPlace());
}

// No log of the server can be read: its crash procedure reports that as long as it lasts, and then continues.
TEST_F(MasterTest, LogsThatCannotBeSealedAreNamed) {
  cluster_.Boot(3);
  GivenTable("t", 3);
  sim::SimServer& victim = OtherThan(MetaHost());
  std::string& unreadable = cluster_.storage().logs.at(victim.name()).unreadable;
  unreadable = "log.0000000001: read: Input/output error";
  cluster_.Kill(victim);
  const auto worst = [&]() -> std::optional<TreeSetback> {
    const auto crashes = master().executor().FindUnfinished("ServerCrash");
    return crashes.empty() ? std::nullopt : WorstSetbackOf(master().executor().Tree(crashes.front()));
  };
  ASSERT_TRUE(cluster_.RunUntil([&] { return worst() && worst()->setback.times > 5; }));
  EXPECT_NE(worst()->setback.error.find("Input/output error"), std::string::npos) << worst()->setback.error;
  unreadable.clear();
  ExpectServed("t", 3);
}

}  // namespace
}  // namespace ratchet::master
