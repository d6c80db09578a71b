// Two clusters and the link between them: the views while the link is cut, and the workload "replication" of
// ratchet-chaos.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>

#include "chaos/second/local_second_cluster.h"
#include "chaos/workloads/workload.h"
#include "common/base/prng.h"
#include "common/client/peers.h"
#include "common/rpc/methods/master_service.h"
#include "tests/cluster/page_fixture.h"

namespace ratchet::chaos {
namespace {

constexpr const char* kLinkPeer = "other";

class ReplicationLinkTest : public PageTest {
 protected:
  void TearDown() override {
    workload_.reset();
    second_.reset();
    ClusterTest::TearDown();
    if (!HasFailure() && !second_dir_.empty()) std::filesystem::remove_all(second_dir_);
  }
  // `mutant`: mutant of the first cluster's servers; empty: none.
  void BootBoth(const std::string& mutant = "") {
    seed_ = RandomSeed();
    std::puts(fmt::format("seed {}", seed_).c_str());
    ClusterSpec spec;
    if (!mutant.empty()) spec.environment.emplace("RATCHET_MUTANT", mutant);
    Boot(1, 2, spec);
    if (HasFatalFailure()) return;
    SkipVerification();  // the verification uses the fixture's writer
    SecondClusterSpec second;
    second_dir_ = std::filesystem::temp_directory_path() / fmt::format("ratchet-second-{:x}", seed_ & 0xffffffU);
    second.dir = second_dir_;
    second.bin = cluster().spec().bin;
    second.boot_timeout = kPatience;
    second.seed = seed_;
    for (const auto& name : cluster().Names(Role::kRegionServer))
      second.first_servers.push_back(cluster().Info(name).port);
    auto made = MakeLocalSecondCluster(std::move(second));
    ASSERT_OK(made);
    second_ = std::move(*made);
  }

  // Makes a table in both clusters, replicated from the first to the second.
  void ShipTable() {
    for (client::Connection* each : {&connection(), &second_->connection()}) {
      TableDescriptor descriptor;
      descriptor.name = TableName("default", "t");
      descriptor.families.push_back(DefaultFamily("u"));
      descriptor.families.back().attributes["REPLICATION_SCOPE"] = "1";
      client::Admin asks(*each);
      ASSERT_OK(asks.WaitOk(asks.CreateTable(descriptor, {"50"})));
    }
    hbase::pb::ReplicationPeer config;
    config.set_clusterkey(second_->PeerKey());
    config.set_replicate_all(true);
    client::Admin asks = admin();
    ASSERT_OK(asks.WaitOk(client::AddPeer(asks, kLinkPeer, config, true)));
  }
  void Write(int count) {
    client::Table table(connection(), TableName("default", "t"));
    for (int i = 0; i < count; ++i, ++written_) {
      ASSERT_OK(
          table.Mutate(client::Mutation::Put(fmt::format("{:02}-{}", written_ % 100, written_)).Set("u", "q", "v")));
    }
  }
  static std::size_t RowsAt(client::Connection& at) {
    client::Table table(at, TableName("default", "t"));
    client::Scanner scanner = table.Scan({});
    for (std::size_t rows = 0;; ++rows) {
      const auto row = scanner.Next();
      EXPECT_TRUE(row.ok()) << row.error().ToString();
      if (!row.ok() || !row->has_value()) return rows;
    }
  }
  void AwaitAllRows() {
    ASSERT_OK(ProcessCluster::WaitUntil("all rows in the second cluster", kPatience, [&] {
      return RowsAt(second_->connection()) == static_cast<std::size_t>(written_);
    }));
  }

  // The longest lag of all servers, in each view of the peer.
  struct Shown {
    std::uint64_t command_ms = 0;  // ratchet peers
    bool command_error = false;
    double metrics_s = 0;
    std::uint64_t hbase_ms = 0;  // status 'replication' of HBase's shell
  };
  Shown Look() {
    Shown shown;
    AskCommand(shown);
    for (const auto& name : cluster().Names(Role::kRegionServer)) {
      shown.metrics_s =
          std::max(shown.metrics_s, Scrape(name).Value("ratchet_replication_lag_seconds", {{"peer", kLinkPeer}}));
    }
    const auto status = admin().Call(methods::kGetClusterStatus, hbase::pb::GetClusterStatusRequest());
    EXPECT_TRUE(status.ok());
    if (!status.ok()) return shown;
    for (const auto& live : status->cluster_status().live_servers()) {
      for (const auto& source : live.server_load().replloadsource()) {
        EXPECT_EQ(source.peerid(), kLinkPeer);
        shown.hbase_ms = std::max<std::uint64_t>(shown.hbase_ms, source.replicationlag());
      }
    }
    return shown;
  }

  std::unique_ptr<Workload> MakeLoad(Millis settle) {
    auto made = MakeWorkload("replication", {connection(), seed_, 3, 4, "test", false, second_.get(), settle});
    EXPECT_TRUE(made.ok());
    return std::move(*made);
  }
  static std::vector<std::string> BadOnes(const std::vector<Finding>& findings) {
    std::vector<std::string> bad;
    for (const auto& finding : findings) {
      std::puts(fmt::format("  {}  {}", finding.good ? "ok  " : "FAIL", finding.text).c_str());
      if (!finding.good) bad.push_back(finding.text);
    }
    return bad;
  }

  std::uint64_t seed_ = 0;
  std::filesystem::path second_dir_;
  std::unique_ptr<SecondCluster> second_;
  std::unique_ptr<Workload> workload_;
  int written_ = 0;

 private:
  void AskCommand(Shown& shown) {
    LaunchSpec launch;
    launch.arguments = {(cluster().spec().bin / "ratchet").string(), "--zookeeper", cluster().zookeeper(), "--json",
                        "peers"};
    launch.output = cluster().spec().dir / fmt::format("peers-{}.json", ++runs_);
    const auto id = Launch(launch);
    ASSERT_OK(id);
    std::optional<Ended> ended;
    ASSERT_OK(ProcessCluster::WaitUntil("the end of ratchet peers", kPatience, [&] {
      ended = CheckEnded(*id);
      return ended.has_value();
    }));
    std::ifstream file(launch.output);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    ASSERT_EQ(ended->code, 0) << text;
    rapidjson::Document document;
    document.Parse(text.c_str());
    ASSERT_TRUE(document.IsArray() && document.Size() == 1) << text;
    const auto& peer = document[0];
    ASSERT_TRUE(peer.HasMember("lag_ms") && peer.HasMember("error")) << text;
    shown.command_ms = peer["lag_ms"].GetUint64();
    shown.command_error = peer["error"].IsString();
  }
  int runs_ = 0;
};

TEST_F(ReplicationLinkTest, TheLagOfACutLinkGrowsIsShownAndGoes) {
  BootBoth();
  if (HasFatalFailure()) return;
  ShipTable();
  if (HasFatalFailure()) return;
  Write(50);
  AwaitAllRows();
  if (HasFatalFailure()) return;
  second_->CutLink(/*vanish=*/true);
  Write(50);
  Shown first;
  ASSERT_OK(ProcessCluster::WaitUntil("a lag", kPatience, [&] {
    first = Look();
    return first.command_ms > 0 && first.metrics_s > 0 && first.hbase_ms > 0;
  }));
  // A delivery has failed, and the lag has grown in all three places.
  Shown later;
  ASSERT_OK(ProcessCluster::WaitUntil("a longer lag, and why", kPatience, [&] {
    later = Look();
    return later.command_ms > first.command_ms + 1'000 && later.metrics_s > first.metrics_s + 1 &&
           later.hbase_ms > first.hbase_ms + 1'000 && later.command_error;
  }));
  EXPECT_EQ(RowsAt(second_->connection()), 50U) << "the link is cut";
  EXPECT_GT(second_->Disturbed(), 0U);
  second_->JoinLink();
  AwaitAllRows();
  Shown last;
  ASSERT_OK(ProcessCluster::WaitUntil("the end of the lag", kPatience, [&] {
    last = Look();
    return last.command_ms == 0 && last.metrics_s == 0 && last.hbase_ms == 0 && !last.command_error;
  }));
}

// Processes of both clusters die, the peer is disabled and the link is cut; both clusters have the same rows at the
// end.
TEST_F(ReplicationLinkTest, TheLoadFindsNothingWrongThroughFailovers) {
  BootBoth();
  if (HasFatalFailure()) return;
  workload_ = MakeLoad(kPatience);
  ASSERT_OK(workload_->Prepare());
  workload_->Start();
  const auto await = [this](std::uint64_t more) {
    const std::uint64_t target = workload_->counters().ok + more;
    return ProcessCluster::WaitUntil("answers", kPatience, [&] { return workload_->counters().ok >= target; });
  };
  ASSERT_OK(await(200));
  for (const char* victim : {"rs-1", "master-1", "rs-2"}) {
    ASSERT_OK(cluster().Restart(victim));
    ASSERT_OK(await(300));
  }
  workload_->AskToStop();
  workload_->Stop();
  ASSERT_OK(cluster().WaitServing(kPatience));
  EXPECT_TRUE(BadOnes(workload_->Check()).empty());
}

// The mutant advances its position without the peer's answer, so entries lost in a cut link are never shipped.
TEST_F(ReplicationLinkTest, TheLoadFindsAPositionThatMovesFirst) {
  BootBoth("replication.move_first");
  if (HasFatalFailure()) return;
  workload_ = MakeLoad(Millis(20'000));  // lost entries never arrive, so a long wait is useless
  ASSERT_OK(workload_->Prepare());
  workload_->Start();
  client::Admin asks = admin();
  // The first cut of the workload is long enough for that.
  ASSERT_OK(ProcessCluster::WaitUntil("a delivery that fails", kPatience, [&] {
    const auto progress = client::ReplicationProgress(asks, "");
    if (!progress.ok()) return false;
    return std::any_of(progress->source().begin(), progress->source().end(),
                       [](const auto& source) { return !source.progress().error().empty(); });
  }));
  workload_->AskToStop();
  workload_->Stop();
  const auto bad = BadOnes(workload_->Check());
  ASSERT_EQ(bad.size(), 1U);
  EXPECT_NE(bad.front().find("missing at the second one"), std::string::npos);
}

}  // namespace
}  // namespace ratchet::chaos
