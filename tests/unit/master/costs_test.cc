// The cost of the master's ticks: it depends on the number of changes, not on the number of regions. Counted, never
// timed.
#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "common/model/open_regions_digest.h"
#include "master/cluster/decommissions.h"
#include "master/cluster/membership.h"
#include "master/policy/placement.h"
#include "master/repair/reconciler.h"
#include "tests/support/manual_time.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

Placement::LoadOf Loads(std::map<ServerName, std::size_t> load = {}) {
  return [load = std::move(load)](const std::vector<ServerName>& servers) {
    std::vector<std::size_t> counts;
    for (const ServerName& server : servers) {
      const auto found = load.find(server);
      counts.push_back(found == load.end() ? 0 : found->second);
    }
    return counts;
  };
}

TEST(PlacementCostTest, APlanLooksAtServersAndAtNoOtherPlan) {
  const std::vector<ServerName> servers{{"a", 1, 1}, {"b", 1, 1}, {"c", 1, 1}};
  Placement placement;
  const auto plan = [&](int region) {
    return *placement.Choose({std::to_string(region), {}, {}, false, {}, {}}, servers, Loads());
  };
  std::map<ServerName, int> planned;
  for (int region = 0; region < 300; ++region) ++planned[plan(region)];
  EXPECT_EQ(planned, (std::map<ServerName, int>{{servers[0], 100}, {servers[1], 100}, {servers[2], 100}}));
  const std::uint64_t before = placement.weighed();
  plan(300);
  EXPECT_EQ(placement.weighed() - before, servers.size());
}

TEST(PlacementCostTest, APlanAmongManyServersComparesSomeAndSpreadsAll) {
  std::vector<ServerName> servers;
  for (std::uint16_t port = 1; port <= 1'000; ++port) servers.push_back({"a", port, 1});
  Placement placement;
  std::map<ServerName, int> planned;
  for (int region = 0; region < 3'000; ++region)
    ++planned[*placement.Choose({std::to_string(region), {}, {}, false, {}, "t"}, servers, Loads())];
  EXPECT_EQ(placement.weighed(), 3'000 * Placement::kComparedAtOnce);
  ASSERT_EQ(planned.size(), servers.size());
  for (const auto& [server, count] : planned) EXPECT_EQ(count, 3) << server.ToString();
  // The only servers that are not to be avoided are found wherever the choice begins.
  std::vector<ServerName> avoid(servers.begin(), servers.end() - 1);
  EXPECT_EQ(*placement.Choose({"x", {}, {}, false, avoid, ""}, servers, Loads()), servers.back());
}

TEST(PlacementCostTest, TheListOfServersIsMadeAgainOnlyAfterAChange) {
  ManualTime time;
  Membership members(time);
  Decommissions marks;
  AssignableCache cache;
  const ServerName a{"a", 1, 1};
  const ServerName b{"b", 1, 1};
  members.AddOnline(a, "1");
  const ServerNames first = cache.Get(members, marks);
  EXPECT_EQ(*first, std::vector<ServerName>{a});
  EXPECT_EQ(cache.Get(members, marks), first);
  members.AddOnline(b, "1");
  EXPECT_EQ(*cache.Get(members, marks), (std::vector<ServerName>{a, b}));
  marks.Reserve(a);
  EXPECT_EQ(*cache.Get(members, marks), std::vector<ServerName>{b});
  members.SetDraining(b, true);
  EXPECT_EQ(*cache.Get(members, marks), std::vector<ServerName>{a}) << "a mark is better than no server";
  members.SetDraining(b, false);
  EXPECT_TRUE(members.MarkCrashed(b, false));
  EXPECT_EQ(*cache.Get(members, marks), std::vector<ServerName>{a});
}

TEST(PlacementCostTest, SettledOrReplacedPlanIsNotCounted) {
  const std::vector<ServerName> servers{{"a", 1, 1}, {"b", 1, 1}};
  Placement placement;
  for (int i = 0; i < 10; ++i)
    placement.Choose({"x", servers[0], {}, false, {}, {}}, servers, Loads());  // one plan, not ten
  for (int i = 0; i < 5; ++i)
    placement.Choose({"y" + std::to_string(i), servers[0], {}, false, {}, {}}, servers, Loads());
  for (int i = 0; i < 5; ++i) placement.Settled("y" + std::to_string(i));
  placement.Settled("y0");
  placement.Choose({"z", servers[1], {}, false, {}, {}}, servers, Loads());
  placement.Choose({"w", servers[1], {}, false, {}, {}}, servers, Loads());
  EXPECT_EQ(*placement.Choose({"v", {}, {}, false, {}, {}}, servers, Loads()),
            servers[0]);  // one plan at this server, two at the other
}

// A step that waits for hbase:meta plans the same move twice. This runs four times, with one server that has a region
// and one that has none, and counts how often the empty one is chosen.
int TimesTheEmptyServerIsChosen() {
  const std::vector<ServerName> servers{{"empty", 1, 1}, {"meta", 1, 1}};
  const std::map<ServerName, std::size_t> load{{servers[1], 1}};
  Placement placement;
  int times = 0;
  for (int time = 0; time < 4; ++time)
    times += *placement.Choose({"x", {}, servers[1], false, {}, "t"}, servers, Loads(load)) == servers[0] ? 1 : 0;
  return times;
}

TEST(PlacementTest, ReplacedPlanDoesNotCountAgainstItsServer) { EXPECT_EQ(TimesTheEmptyServerIsChosen(), 4); }

TEST(PlacementTest, CountingReplacedPlansIsNoticed) {
  const ScopedMutant mutant("master.keep_the_former_plan");
  EXPECT_LT(TimesTheEmptyServerIsChosen(), 4);
}

TEST(PlacementTest, ANewTableIsSpreadAlthoughAServerIsEmpty) {
  const std::vector<ServerName> servers{{"a", 1, 1}, {"b", 1, 1}, {"c", 1, 1}};
  const std::map<ServerName, std::size_t> load{{servers[0], 50}, {servers[1], 40}};
  Placement placement;
  const auto plan = [&](const std::string& region, const std::string& table, std::optional<ServerName> last = {}) {
    return *placement.Choose({region, {}, std::move(last), false, {}, table}, servers, Loads(load));
  };
  std::map<ServerName, int> planned;
  for (int region = 0; region < 9; ++region) ++planned[plan(std::to_string(region), "t")];
  EXPECT_EQ(planned, (std::map<ServerName, int>{{servers[0], 3}, {servers[1], 3}, {servers[2], 3}}));
  EXPECT_EQ(plan("moved", "t", servers[0]), servers[2]) << "one that had a server goes where there is most room";
  for (int region = 0; region < 9; ++region) placement.Settled(std::to_string(region));
  placement.Settled("moved");
  EXPECT_EQ(plan("later", "t"), servers[2]) << "what has settled counts as load only";
}

class TickCostTest : public MasterTest {
 protected:
  static constexpr int kRegions = 24;
  Reconciler& reconciler() { return master().logic().reconciler; }
  RegionDirectory& regions() { return master().logic().regions; }
  void GraceEnds() { ASSERT_TRUE(cluster_.RunFor(cluster_.master_options.reconciler.grace + Millis(100))); }
  bool Beat(sim::SimServer& server) {
    const RegionList list = server.NextList();
    const std::uint64_t taken = reconciler().OnHeartbeat(server.name(), list);
    server.ListAnswered(taken);
    return taken == list.number;
  }
  // One server that serves a table of kRegions regions; the master has the list of all of them.
  sim::SimServer& GivenAListOfAll(std::size_t looks_in_turn) {
    cluster_.master_options.reconciler.looks_in_turn = looks_in_turn;
    cluster_.Boot(1);
    GivenTable("t", kRegions);
    GraceEnds();
    sim::SimServer& server = *cluster_.Alive().front();
    EXPECT_TRUE(Beat(server));
    return server;
  }
  bool WasFound(const std::string& encoded, const std::string& what) {
    for (const ReconcilerFinding& finding : reconciler().Findings()) {
      if (finding.encoded == encoded && finding.what.find(what) != std::string::npos) return true;
    }
    return false;
  }
};

TEST_F(TickCostTest, SweepCopiesNoSettledRegion) {
  cluster_.Boot(2);
  GivenTable("t", kRegions);
  GivenTable("off", kRegions);
  (void)Disable("off");
  ASSERT_TRUE(cluster_.Settle());
  GraceEnds();
  reconciler().Sweep();
  const std::uint64_t before = regions().copied();
  reconciler().Sweep();
  EXPECT_EQ(regions().copied(), before);
  EXPECT_EQ(reconciler().Problems(), std::vector<std::string>());
  EXPECT_EQ(regions().copied(), before);
}

TEST_F(TickCostTest, ComparisonWithMetaCopiesNoMatchingRegion) {
  cluster_.Boot(2);
  GivenTable("t", kRegions);
  GraceEnds();
  const std::uint64_t before = regions().copied();
  Status compared = Error(Code::kUnavailable, "not yet");
  reconciler().CompareWithMeta([&compared](Status status) { compared = std::move(status); });
  ASSERT_TRUE(cluster_.RunUntil([&compared] { return compared.ok(); }));
  EXPECT_EQ(regions().copied(), before);
  EXPECT_TRUE(reconciler().Inconsistencies().empty());
}

TEST_F(TickCostTest, HeartbeatChecksChangedRegionsAndAFewOthers) {
  sim::SimServer& server = GivenAListOfAll(1);
  EXPECT_TRUE(Beat(server));
  std::uint64_t before = reconciler().watch().looked_at();
  for (int beat = 0; beat < 10; ++beat) EXPECT_TRUE(Beat(server));
  EXPECT_LE(reconciler().watch().looked_at() - before, 20U);  // one of the list and one of the in-memory state each,
                                                              // not 240
  (void)Move(Encoded("t"), server.name());
  ASSERT_TRUE(cluster_.Settle());
  GraceEnds();
  before = reconciler().watch().looked_at();
  EXPECT_TRUE(Beat(server));
  EXPECT_LE(reconciler().watch().looked_at() - before, 3U);
  EXPECT_TRUE(reconciler().Findings().empty());
}

// A list of changes reports a region as no longer open.
TEST_F(TickCostTest, MissingRegionIsNoticedAtOnce) {
  sim::SimServer& server = GivenAListOfAll(1);
  const std::string encoded = Encoded("t", 17);
  RegionList list = server.NextList();
  list.closed = {encoded};
  --list.size;
  list.digest -= DigestOfOpenRegion(encoded, server.regions().at(encoded).open_number);
  EXPECT_EQ(reconciler().OnHeartbeat(server.name(), list), list.number);
  EXPECT_TRUE(WasFound(encoded, "opened again"));
  EXPECT_EQ(reconciler().Findings().size(), 1U);
}

// A change of the in-memory state only: the server's list is unchanged.
TEST_F(TickCostTest, ChangedMemoryIsComparedWithAnUnchangedList) {
  sim::SimServer& server = GivenAListOfAll(1);
  const std::string encoded = Encoded("t", 17);
  RegionRow row = cluster_.meta().regions().at(encoded);
  row.location.reset();
  row.target.reset();
  regions().Remove(encoded);
  regions().Add(row);  // unplaced (S71: ask servers for unplaced regions)
  EXPECT_FALSE(reconciler().Problems().empty());
  GraceEnds();
  reconciler().Sweep();
  EXPECT_FALSE(WasFound(encoded, "assigned")) << "the server's list was taken before that";
  EXPECT_TRUE(Beat(server));
  EXPECT_TRUE(WasFound(encoded, "is open there"));
  EXPECT_EQ(regions().Get(encoded)->location, server.name());
  ExpectServed("t", kRegions);
}

class OpenQuestionTest : public TickCostTest {
 protected:
  // A region is moved away by a procedure, but its first server keeps it. True if the server's list shows that.
  bool TheServerThatKeepsItIsFound() {
    sim::SimServer& server = GivenAListOfAll(1);
    const std::string encoded = Encoded("t", 17);
    const auto becomes = [&](RegionState state, const std::optional<ServerName>& at) {
      regions().Update(encoded, [&](RegionNode& node) {
        node.state = state;
        node.location = at;
      });
    };
    regions().Own(encoded, ProcId(99));
    becomes(RegionState::kClosing, server.name());
    becomes(RegionState::kClosed, std::nullopt);
    EXPECT_TRUE(Beat(server)) << "this cannot be judged while a procedure owns the region";
    const ServerName other{"other", 1, 1};
    becomes(RegionState::kOpening, other);
    becomes(RegionState::kOpen, other);
    regions().Disown(encoded, ProcId(99));
    GraceEnds();
    EXPECT_TRUE(Beat(server));
    return WasFound(encoded, "reports it as open");
  }
};

TEST_F(OpenQuestionTest, AServerThatKeepsARegionIsFoundAlthoughNothingChangesThere) {
  EXPECT_TRUE(TheServerThatKeepsItIsFound());
}

TEST_F(OpenQuestionTest, ForgettingWhatCouldNotBeJudgedIsNoticed) {
  const ScopedMutant mutant("master.forget_open_questions");
  EXPECT_FALSE(TheServerThatKeepsItIsFound());
}

// A difference that no change announced is found by the regular round.
TEST_F(TickCostTest, EachRegionIsCheckedEventually) {
  sim::SimServer& server = GivenAListOfAll(2);
  const std::string encoded = Encoded("t", 17);
  const RegionNode node = *regions().Get(encoded);
  regions().Update(encoded, [](RegionNode& changed) { changed.open_number = ProcId(1); });
  ASSERT_TRUE(Beat(server));  // too young to be judged: checked again by each heartbeat
  EXPECT_TRUE(reconciler().Findings().empty());
  GraceEnds();
  ASSERT_TRUE(Beat(server));
  EXPECT_TRUE(WasFound(encoded, "is current, not"));
  regions().Update(encoded, [&node](RegionNode& changed) { changed.open_number = node.open_number; });
  const std::uint64_t before = reconciler().watch().looked_at();
  for (int beat = 0; beat < kRegions; ++beat) ASSERT_TRUE(Beat(server));
  EXPECT_GE(reconciler().watch().looked_at() - before, static_cast<std::uint64_t>(kRegions));
}

TEST_F(TickCostTest, SweepVisitsUnsettledRegionsInSlices) {
  ManualTime time;
  RegionDirectory directory(time);
  for (int i = 0; i < 10; ++i) {
    RegionRow row;
    row.region.table = TableName("default", "t");
    row.region.start_key = std::to_string(i);
    row.state = RegionState::kOffline;
    directory.Add(row);
  }
  std::set<std::string> seen;
  std::string after;
  std::vector<std::size_t> slices;
  do {
    const auto slice = directory.Unsettled(&after, 4);
    slices.push_back(slice.size());
    for (const RegionNode& node : slice) seen.insert(node.encoded);
  } while (!after.empty() && slices.size() < 10);
  EXPECT_EQ(slices, (std::vector<std::size_t>{4, 4, 2}));
  EXPECT_EQ(seen.size(), 10U);
}

TEST(VisitTest, ShowsEachNodeOnceAndCopiesWhatIsWanted) {
  ManualTime time;
  RegionDirectory directory(time);
  directory.Visit([](const RegionNode&) { ADD_FAILURE(); });
  constexpr std::size_t kCount = 2 * RegionDirectory::kVisitedAtOnce + 3;
  for (std::size_t i = 0; i < kCount; ++i) {
    RegionRow row;
    row.region.table = TableName("default", "t");
    row.region.start_key = std::to_string(i);
    directory.Add(row);
  }
  std::set<std::string> seen;
  directory.Visit([&seen](const RegionNode& node) { EXPECT_TRUE(seen.insert(node.encoded).second); });
  EXPECT_EQ(seen.size(), kCount);
  const auto few = directory.Select([](const RegionNode& node) { return node.info.start_key == "7"; });
  ASSERT_EQ(few.size(), 1U);
  EXPECT_EQ(directory.copied(), 1U);
}

class ChangeLogTest : public ::testing::Test {
 protected:
  ChangeLogTest() {
    row_.region.table = TableName("default", "t");
    row_.state = RegionState::kOpen;
    row_.location = a_;
    directory_.Add(row_);
    encoded_ = row_.region.encoded_name();
  }
  // The changes at the server since the last call; nullopt: any region may have changed.
  std::optional<std::vector<std::string>> Changes(const ServerName& server) {
    std::vector<std::string> changed;
    if (!directory_.ChangedSince(server, &seen_[server], &changed)) return std::nullopt;
    return changed;
  }

  const ServerName a_{"a", 1, 1};
  const ServerName b_{"b", 1, 1};
  ManualTime time_;
  RegionDirectory directory_{time_};
  RegionRow row_;
  std::string encoded_;
  std::map<ServerName, std::uint64_t> seen_;
};

TEST_F(ChangeLogTest, ReturnsTheChangesOrThatAllMayHaveChanged) {
  EXPECT_EQ(Changes(a_), std::nullopt);
  EXPECT_EQ(Changes(a_), std::vector<std::string>{});
  directory_.Own(encoded_, ProcId(5));
  directory_.Disown(encoded_, ProcId(5));
  directory_.Remove(encoded_);
  const std::uint64_t before = seen_[a_];
  EXPECT_EQ(Changes(a_), (std::vector<std::string>{encoded_, encoded_, encoded_}));
  directory_.Add(row_);
  for (int i = 0; i < 100'000; ++i) directory_.Update(encoded_, [](RegionNode&) {});
  seen_[a_] = before;
  EXPECT_EQ(Changes(a_), std::nullopt) << "it is bounded, and reports that";
}

TEST_F(ChangeLogTest, AServerSeesWhatComesAndGoesAndNoOtherChange) {
  EXPECT_EQ(Changes(a_), std::nullopt);
  EXPECT_EQ(Changes(b_), std::nullopt);
  directory_.Update(encoded_, [](RegionNode& node) { node.open_sequence = 7; });
  EXPECT_EQ(Changes(b_), std::vector<std::string>{});
  EXPECT_EQ(Changes(a_), std::vector<std::string>{encoded_});
  directory_.Update(encoded_, [this](RegionNode& node) { node.location = b_; });
  EXPECT_EQ(Changes(a_), std::vector<std::string>{encoded_});
  EXPECT_EQ(Changes(b_), std::vector<std::string>{encoded_});
  EXPECT_EQ(Changes(a_), std::vector<std::string>{});
}

TEST_F(ChangeLogTest, ForgettingTheServerThatARegionLeavesIsNoticed) {
  const ScopedMutant mutant("master.forget_the_left_server");
  EXPECT_EQ(Changes(a_), std::nullopt);
  directory_.Update(encoded_, [this](RegionNode& node) { node.location = b_; });
  EXPECT_NE(Changes(a_), std::vector<std::string>{encoded_});
}

TEST_F(ChangeLogTest, TheNumberOfLogsIsBoundedAndAForgottenLogIsAFullCheck) {
  EXPECT_EQ(Changes(a_), std::nullopt);
  for (std::uint16_t port = 1; port <= 1'000; ++port)
    directory_.Update(encoded_, [port](RegionNode& node) { node.location = ServerName{"c", port, 1}; });
  EXPECT_EQ(Changes(a_), std::nullopt);
}

}  // namespace
}  // namespace ratchet::master
