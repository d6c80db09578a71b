// Golden transcripts of the reconciler's sweep: the cluster in memory before a sweep, the findings, and the procedures
// that the sweep submits.
#include <algorithm>
#include <set>
#include <string>

#include <fmt/format.h>

#include "master/cluster/split_workers.h"
#include "tests/golden/golden_file.h"
#include "tests/unit/master/reshape_fixture.h"

namespace ratchet::golden {
namespace {

using namespace ratchet::master;  // NOLINT: what is tested

class SweepTranscriptTest : public ReshapeTest {
 protected:
  MasterLogic& logic() { return master().logic(); }
  Reconciler& reconciler() { return logic().reconciler; }
  void GraceEnds() { ASSERT_TRUE(cluster_.RunFor(cluster_.master_options.reconciler.grace + Millis(100))); }
  void Given(int servers, int regions) {
    cluster_.Boot(servers);
    GivenTable("t", regions);
    seen_ = Present();
  }
  void Put(TableState state) {
    auto table = *logic().tables.Get(TableName("default", "t"));
    table.state = state;
    logic().tables.Put(table);
  }
  void Leave(const std::string& encoded, RegionState state) {
    logic().regions.Update(encoded, [state](RegionNode& node) { node.state = state; });
  }
  void Beat(sim::SimServer& server) {
    std::vector<OnlineRegion> online;
    for (const auto& [encoded, region] : server.regions()) online.push_back({encoded, region.open_number});
    reconciler().OnHeartbeat(server.name(), online);
  }
  void Line(const std::string& text) { text_ += text + "\n"; }
  void ShowWorld();
  void Sweep(const std::string& title);
  void Done(const std::string& name) { ExpectTranscript("sweep_" + name, text_); }

  // The pids in memory.
  std::set<ProcId> Present() {
    std::set<ProcId> pids;
    for (const procedure::ProcedureInfo& info : master().executor().List()) pids.insert(info.pid);
    return pids;
  }

  std::set<ProcId> seen_;  // procedures that no sweep has submitted

 private:
  static std::string PlaceOf(const std::optional<ServerName>& server) {
    return server ? server->ToString() : "nowhere";
  }

  std::string text_;
  std::size_t findings_ = 0;
};

void SweepTranscriptTest::ShowWorld() {
  for (const ServerView& server : logic().servers.List()) {
    Line(fmt::format("  server {} {}", server.name.ToString(), ServerPhaseName(server.phase)));
  }
  for (const TableNode& table : logic().tables.List()) {
    const auto grant = logic().tables.LastLockGrant(table.name);
    Line(fmt::format("  table {} {}{}{}", table.name.ToString(), TableStateText(table.state),
                     grant ? fmt::format(" under pid={}", grant->pid) : "", table.schema ? "" : " without a schema"));
  }
  const TimePoint now = cluster_.time().Now();
  logic().regions.Visit([&](const RegionNode& node) {
    const bool old = now - node.last_update >= cluster_.master_options.reconciler.grace;
    Line(fmt::format("  region {} {} {} {} {}{}{}", node.encoded, node.info.table.ToString(),
                     RegionStateText(node.state), PlaceOf(node.location), old ? "long ago" : "now",
                     node.owner.valid() ? fmt::format(" owned by pid={}", node.owner) : "",
                     node.unplaced ? " unplaced" : ""));
  });
  for (const ProcId holder : logic().split_workers.Holders()) Line(fmt::format("  slot of pid={}", holder));
  for (const procedure::ProcedureInfo& info : master().executor().List()) {
    if (master().executor().GetResult(info.pid).finished()) continue;
    Line(fmt::format("  runs pid={} {} {}", info.pid, info.type, info.description.text()));
  }
}

void SweepTranscriptTest::Sweep(const std::string& title) {
  Line("> " + title);
  ShowWorld();
  Line("> sweep");
  reconciler().Sweep();
  ASSERT_TRUE(cluster_.RunFor(Millis(0)));
  const std::vector<ReconcilerFinding> findings = reconciler().Findings();
  for (; findings_ < findings.size(); ++findings_) {
    const ReconcilerFinding& found = findings[findings_];
    Line(fmt::format("  finding {}{}: {}", found.server.host.empty() ? "" : found.server.ToString() + " ",
                     found.encoded, found.what));
  }
  for (const procedure::ProcedureInfo& info : master().executor().List()) {
    if (!info.parent.valid() && seen_.insert(info.pid).second) {
      Line(fmt::format("  submitted pid={} {} {}", info.pid, info.type, info.description.text()));
    }
  }
  logic().regions.Visit([&](const RegionNode& node) {
    if (node.owner.valid()) Line(fmt::format("  region {} is owned by pid={}", node.encoded, node.owner));
  });
  Line(fmt::format("  slots held: {}", logic().split_workers.Holders().size()));
}

TEST_F(SweepTranscriptTest, RegionsLeftBehind) {
  Given(2, 3);
  Sweep("a consistent cluster");
  const std::string encoded = Encoded("t");
  const std::string closed = Encoded("t", 1);
  (void)Unassign(encoded);
  (void)Unassign(closed);
  ASSERT_TRUE(cluster_.Settle());
  GraceEnds();
  seen_ = Present();
  Leave(encoded, RegionState::kOpening);
  Sweep("a region is OPENING since now, another one is CLOSED");
  GraceEnds();
  Sweep("the same later");
  Sweep("while the repair runs");
  ExpectSettled();
  Sweep("the repair has ended");
  Done("regions");
}

TEST_F(SweepTranscriptTest, RegionsOfADisabledTable) {
  Given(2, 2);
  Put(TableState::kDisabled);
  GraceEnds();
  Sweep("regions of a disabled table are open");
  Sweep("while the repair runs");
  Done("disabled");
}

TEST_F(SweepTranscriptTest, TablesInBetween) {
  Given(2, 1);
  Put(TableState::kEnabling);
  Sweep("a table is ENABLING");
  Sweep("while the repair runs");
  ExpectSettled();
  Put(TableState::kDisabling);
  Sweep("a table is DISABLING");
  Done("tables");
}

TEST_F(SweepTranscriptTest, OwnersThatHaveEnded) {
  Given(2, 3);
  const ProcId ended = *Unassign(Encoded("t"));
  ASSERT_TRUE(cluster_.Settle());
  seen_ = Present();
  GraceEnds();
  ASSERT_TRUE(logic().regions.Own(Encoded("t", 0), ended));
  ASSERT_TRUE(logic().regions.Own(Encoded("t", 1), ended));
  RegionRow half;
  half.region = Regions("t")[2].info;
  half.region.start_key = "x";
  half.state = RegionState::kSplittingNew;
  logic().regions.Add(half);
  ASSERT_TRUE(logic().regions.Own(half.region.encoded_name(), ended));
  logic().split_workers.Claim(ended, cluster_.Alive()[0]->name());
  Sweep("an ended procedure owns three regions and has a slot");
  GraceEnds();
  Sweep("later");
  Done("owners");
}

TEST_F(SweepTranscriptTest, UnknownServers) {
  Given(2, 2);
  RegionRow row = cluster_.meta().regions().at(Encoded("t"));
  row.region.start_key = "m";
  row.location = ServerName{"ghost", 1, 1};
  logic().regions.Add(row);
  Sweep("a region's server is unknown since now");
  GraceEnds();
  Sweep("the same later");
  Sweep("its crash procedure runs");
  Done("unknown_server");
}

TEST_F(SweepTranscriptTest, ServersThatHaveCrashed) {
  Given(3, 3);
  sim::SimServer& other = OtherThan(MetaHost());
  cluster_.Kill(other);
  cluster_.SessionEnds(other.name(), Millis(0));
  ASSERT_TRUE(cluster_.RunUntil([&] { return !master().executor().FindUnfinished("ServerCrash").empty(); }));
  seen_ = Present();
  Sweep("a server has crashed");
  GraceEnds();
  Sweep("its crash procedure has ended");
  Done("crashed_server");
}

TEST_F(SweepTranscriptTest, Meta) {
  Given(2, 1);
  const std::string meta(kMetaEncodedName);
  GraceEnds();
  Leave(meta, RegionState::kClosing);
  Sweep("hbase:meta is CLOSING since now");
  GraceEnds();
  logic().env.meta_loaded = false;
  Leave(Encoded("t"), RegionState::kClosing);
  Sweep("the same later, before it was loaded");
  Sweep("while the repair runs");
  Done("meta");
}

TEST_F(SweepTranscriptTest, MetaOnAnUnknownServer) {
  Given(2, 1);
  logic().regions.Update(kMetaEncodedName, [](RegionNode& node) { node.location = ServerName{"ghost", 1, 1}; });
  GraceEnds();
  Sweep("the server of hbase:meta is unknown");
  Done("meta_unknown_server");
}

TEST_F(SweepTranscriptTest, RegionsWithoutAServer) {
  Given(2, 2);
  const std::string encoded = Encoded("t");
  cluster_.KillMaster();
  RegionRow& row = cluster_.meta().mutable_regions().at(encoded);
  row.location = std::nullopt;
  row.target = std::nullopt;
  cluster_.StartMaster();
  ASSERT_TRUE(cluster_.Settle());
  seen_ = Present();
  GraceEnds();
  Sweep("a row names no server, and no server has sent its list");
  for (sim::SimServer* server : cluster_.Alive()) reconciler().OnHeartbeat(server->name(), RegionList{});
  Sweep("each server has sent an empty list");
  Done("unplaced");
}

TEST_F(SweepTranscriptTest, RegionsThatWereReplaced) {
  cluster_.master_options.reconciler.janitor_interval = Millis(60'000);
  Given(2, 1);
  Sweep("the janitor is due");
  (void)Split(Encoded("t"), "k");
  ASSERT_TRUE(cluster_.Settle());
  GraceEnds();
  seen_ = Present();
  Sweep("a split has ended, the janitor was not due");
  ASSERT_TRUE(cluster_.RunFor(Millis(60'000)));
  Sweep("the janitor is due again");
  Done("replaced");
}

}  // namespace
}  // namespace ratchet::golden
