// The workloads of ratchet-chaos on a real cluster: they report no error without a loss, and they detect a planted
// loss.
#include <algorithm>

#include "chaos/verdict/cluster_checks.h"
#include "chaos/verdict/process_checks.h"
#include "chaos/workloads/workload.h"
#include "common/base/prng.h"
#include "common/client/drain.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/rpc/methods/master_service.h"
#include "common/rpc/methods/ratchet_service.h"
#include "tests/cluster/cluster_fixture.h"
#include "tests/cluster/meta_behind.h"

namespace ratchet::chaos {
namespace {

class WorkloadsTest : public ClusterTest {
 protected:
  std::unique_ptr<Workload> Make(std::string_view name) {
    const std::uint64_t seed = RandomSeed();
    std::puts(fmt::format("{}: seed {}", name, seed).c_str());
    auto made = MakeWorkload(name, {connection(), seed, 3, 6, "test"});
    EXPECT_TRUE(made.ok());
    return std::move(*made);
  }
  static void WaitForOk(const Workload& workload, std::uint64_t more) {
    const std::uint64_t target = workload.counters().ok + more;
    ASSERT_OK(ProcessCluster::WaitUntil(std::string(workload.name()) + "'s answers", kPatience,
                                        [&] { return workload.counters().ok >= target; }));
  }
  // Returns the required number of answers of a workload; ddl, huge-rows and splits make few per second.
  static std::uint64_t Enough(const Workload& workload, std::uint64_t of_fast_ones) {
    if (workload.name() == "huge-rows") return 4;
    for (const char* slow : {"splits", "snapshots", "drain", "balance"}) {
      if (workload.name() == slow) return 3;
    }
    return workload.name() == "ddl" ? 10 : of_fast_ones;
  }
  void SwitchBalancer(bool on) {
    hbase::pb::SetBalancerRunningRequest request;
    request.set_on(on);
    ASSERT_OK(admin().Call(methods::kSetBalancerRunning, request));
  }
  // Returns true if the workload has drained and undrained a server.
  bool FindsAMark(Workload& drain) {
    bool found = false;
    for (const char* process : {"rs-1", "rs-2"}) {
      const ServerName server = ServerNameOf(process);
      client::Admin asks = admin();
      EXPECT_TRUE(asks.WaitOk(client::Drain(asks, server, false)).ok());
      found = !BadOnes(drain.Check()).empty() || found;
      EXPECT_TRUE(asks.WaitOk(client::Undrain(asks, server, {})).ok());
    }
    return found;
  }
  // Makes a table whose middle region has no row in hbase:meta, until the master rewrites it after two checks.
  void MakeHole(const std::string& name) {
    MakeTable(name, 3);
    if (HasFatalFailure()) return;
    const auto regions = admin().Regions(TableName("default", name));
    ASSERT_OK(regions);
    ASSERT_OK(ChangeRowBehind(admin(), cluster().root(), regions->at(1).region.encoded_name(), [](auto& edit) {
      edit.kind = master::MetaEdit::Kind::kDeleteRegion;
      ++edit.region.transition;
    }));
  }
  static std::vector<std::string> BadOnes(const std::vector<Finding>& findings) {
    std::vector<std::string> bad;
    for (const auto& finding : findings) {
      std::puts(fmt::format("  {}  {}", finding.good ? "ok  " : "FAIL", finding.text).c_str());
      if (!finding.good) bad.push_back(finding.text);
    }
    return bad;
  }
};

TEST_F(WorkloadsTest, FindNothingWrongWhenAServerIsKilled) {
  Boot(1, 3);
  if (HasFatalFailure()) return;
  std::vector<std::unique_ptr<Workload>> workloads;
  for (const auto name : UsualWorkloadNames()) {
    workloads.push_back(Make(name));
    ASSERT_OK(workloads.back()->Prepare());
  }
  for (auto& workload : workloads) workload->Start();
  for (auto& workload : workloads) WaitForOk(*workload, Enough(*workload, 20));
  const auto victim = cluster().MetaHolder();
  ASSERT_OK(victim);
  ASSERT_OK(cluster().Kill9(*victim));
  for (auto& workload : workloads) WaitForOk(*workload, Enough(*workload, 300));
  ASSERT_OK(cluster().Start(*victim));
  for (auto& workload : workloads) workload->AskToStop();
  for (auto& workload : workloads) workload->Stop();
  ASSERT_OK(cluster().WaitServing(kPatience));
  for (auto& workload : workloads) {
    const auto counters = workload->counters();
    std::puts(fmt::format("{}: {} ok, {} failed, {} unknown, longest gap {} ms", workload->name(), counters.ok,
                          counters.failed, counters.unknown, counters.longest_gap.count())
                  .c_str());
    EXPECT_TRUE(BadOnes(workload->Check()).empty());
    EXPECT_GT(counters.longest_gap.count(), 0);
  }
  EXPECT_TRUE(BadOnes(CheckCluster(connection(), cluster().root())).empty());
  std::vector<Finding> bounded;
  for (const auto& process : cluster().Processes()) {
    const auto sample = SampleProcess(process.id.pid);
    ASSERT_OK(sample);
    bounded.push_back(CheckBounded(process.name, *sample));
  }
  EXPECT_TRUE(BadOnes(bounded).empty());
}

// Data of each workload is lost or changed outside of the workload; each must detect it.
TEST_F(WorkloadsTest, EachFindsAPlantedLoss) {
  Boot(1, 2);
  if (HasFatalFailure()) return;
  // Makes orphan files before splits and merges temporarily leave some too.
  const auto ghost = cluster().root() / "data" / "default" / "ghost.77";
  EXPECT_TRUE(BadOnes({CheckFiles(connection(), cluster().root())}).empty());
  std::filesystem::create_directories(ghost);
  EXPECT_EQ(BadOnes({CheckFiles(connection(), cluster().root())}).size(), 1U);
  std::filesystem::remove(ghost);
  std::vector<std::unique_ptr<Workload>> workloads;
  for (const auto name : UsualWorkloadNames()) {
    workloads.push_back(Make(name));
    ASSERT_OK(workloads.back()->Prepare());
    workloads.back()->Start();
  }
  for (auto& workload : workloads) WaitForOk(*workload, Enough(*workload, 500));
  for (auto& workload : workloads) workload->AskToStop();
  for (auto& workload : workloads) workload->Stop();
  for (const char* name : {"test_registers", "test_lists", "test_snapshots", "test_alter", "test_scans"}) {
    client::Table rows(connection(), TableName("default", name));
    auto scanner = rows.Scan({});
    const auto row = scanner.Next();
    ASSERT_OK(row);
    ASSERT_TRUE(row->has_value()) << name;
    ASSERT_OK(rows.Mutate(client::Mutation::Delete((*row)->key)));
  }
  client::Table huge(connection(), TableName("default", "test_huge"));
  auto huge_rows = huge.Scan({});
  for (;;) {  // removes all, because a missing row of appends is not detected as a loss
    const auto row = huge_rows.Next();
    ASSERT_OK(row);
    if (!row->has_value()) break;
    ASSERT_OK(huge.Mutate(client::Mutation::Delete((*row)->key)));
  }
  client::Table bank(connection(), TableName("default", "test_bank"));
  ASSERT_OK(bank.Mutate(client::Mutation::Increment("0000-b0").Add("f", "a0", 1)));
  // A table's state differs from the state that the client set.
  const TableName table("default", "test_ddl_0");
  const auto state = admin().State(table);
  if (!state.ok()) {
    TableDescriptor descriptor;
    descriptor.name = table;
    descriptor.families.push_back(DefaultFamily("f"));
    ASSERT_OK(admin().WaitOk(admin().CreateTable(descriptor, {})));
  } else {
    const bool enabled = *state == TableState::kEnabled;
    ASSERT_OK(admin().WaitOk(enabled ? admin().DisableTable(table) : admin().EnableTable(table)));
  }
  // Splits come last, because "drain" and "balance" would find a region without a row.
  std::stable_partition(workloads.begin(), workloads.end(), [](const auto& each) { return each->name() != "splits"; });
  for (auto& workload : workloads) {
    if (workload->name() == "splits") MakeHole("test_holed");
    if (workload->name() == "balance") SwitchBalancer(false);
    if (workload->name() == "drain") {
      EXPECT_TRUE(FindsAMark(*workload));
    } else {
      EXPECT_FALSE(BadOnes(workload->Check()).empty()) << workload->name();
    }
  }
  // The verification needs the missing row, so the test requests a check of the master.
  pb::ReconcileRequest look;
  look.set_look_now(true);
  ASSERT_OK(ProcessCluster::WaitUntil("the row's return", kPatience, [&] {
    return admin().Call(methods::kReconcile, look).ok() && CheckOneOwner(connection(), Millis{0}).good;
  }));
}

}  // namespace
}  // namespace ratchet::chaos
