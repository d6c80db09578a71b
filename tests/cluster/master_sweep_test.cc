// The active master is killed before and after the commit of every step of every procedure, children included. The
// steps come from the step tables at run time (ratchet-master --list-steps --json): a step that no trigger reaches
// fails.
//
// In each round the master that will become active is armed (executor.before_commit or executor.after_commit at one
// step), the other one hands over in order, the trigger starts the procedure, the armed master dies at the step, and
// the standby must finish. The waiting client sees one result and no error.
#include <functional>
#include <set>

#include "common/base/fault_point.h"
#include "common/base/prng.h"
#include "common/client/drain.h"
#include "common/client/namespaces.h"
#include "common/client/peers.h"
#include "common/client/snapshots.h"
#include "common/model/proto/master.pb.h"
#include "common/model/proto/token.pb.h"
#include "common/rpc/methods/master_service.h"
#include "common/rpc/methods/ratchet_service.h"
#include "tests/cluster/cluster_fixture.h"
#include "tests/cluster/master_steps.h"

namespace ratchet::chaos {
namespace {

class MasterSweepTest : public ClusterTest {
 protected:
  // Returns a function that waits for the end of the started work.
  using Waiter = std::function<Status()>;
  using Trigger = std::function<Waiter()>;

  void TearDown() override {
    std::filesystem::remove_all(exports_);
    ClusterTest::TearDown();
  }
  std::string PlaceOf(const std::string& snapshot) const { return (exports_ / snapshot).string(); }

  void SweepGroup(const std::string& group) {
    std::set<std::string> swept;
    for (const auto& step : ListSteps()) {
      if (Groups().at(group).count(step.type) == 0 || SweptInProcessOnly(step) || IsOfEarlierVersions(step)) continue;
      for (const char* when : {"before", "after"}) {
        Round(step, when);
        if (HasFatalFailure()) return;
        swept.insert(step.Detail());
      }
    }
    EXPECT_FALSE(swept.empty());
  }

  void Round(const Step& step, const std::string& when) {
    SCOPED_TRACE(fmt::format("{} the commit of {}", when, step.Detail()));
    const std::string fault = fmt::format("executor.{}_commit~{}=crash", when, step.Detail());
    Arm(fault);
    if (HasFatalFailure()) return;
    Waiter wait = TriggerOf(step)();
    const auto code = cluster().WaitExit(armed_, kPatience);
    ASSERT_TRUE(code.ok()) << "the trigger did not reach the step: " << code.error().ToString();
    ASSERT_EQ(*code, kFaultExitCode);
    ASSERT_OK(wait());
    ASSERT_OK(cluster().WaitServing(kPatience));
    RestartServers();
  }

  // Makes an armed master active, with a clean standby.
  void Arm(const std::string& fault) {
    const auto active = cluster().WaitActiveMaster(kPatience);
    ASSERT_OK(active);
    armed_ = *active == "master-1" ? "master-2" : "master-1";
    ASSERT_OK(cluster().Restart(armed_, ArmedWith(fault)));
    ASSERT_OK(cluster().WaitLog(armed_, "standby", kPatience));
    ASSERT_OK(cluster().Stop(*active, kPatience));
    ASSERT_OK(cluster().WaitActiveMaster(kPatience, *active));
    ASSERT_OK(cluster().WaitServing(kPatience));
    ASSERT_OK(cluster().Start(*active));
  }

  void RestartServers() {
    for (const auto& name : cluster().Names(Role::kRegionServer)) {
      if (!cluster().Running(name)) ASSERT_OK(cluster().Start(name));
    }
    ASSERT_OK(cluster().WaitServing(kPatience));
  }

  Trigger TriggerOf(const Step& step) {
    const std::string name = fmt::format("t{}", ++tables_);
    const TableName table("default", name);
    if (step.type == "CreateTable") return [=, this] { return Waits(Create(table)); };
    if (step.type == "AssignBatch") return [=, this] { return Waits(Create(table, {"2", "4", "6", "8", "a"})); };
    if (step.type == "DisableTable") {
      Make(table, false);
      return [=, this] { return Waits(admin().DisableTable(table)); };
    }
    if (step.type == "EnableTable" || step.type == "DeleteTable") {
      Make(table, true);
      const bool enable = step.type == "EnableTable";
      return [=, this] { return Waits(enable ? admin().EnableTable(table) : admin().DeleteTable(table)); };
    }
    if (step.type == "TruncateTable") {
      Make(table, true);
      return [=, this] { return Waits(admin().TruncateTable(table, true)); };
    }
    if (Groups().at("Altering").count(step.type) != 0) {
      Make(table, false);
      if (step.type.starts_with("Compact")) return [=, this] { return Waits(admin().CompactTable(table, true)); };
      const bool flush = step.type.starts_with("Flush");
      return
          [=, this] { return Waits(flush ? admin().FlushTable(table) : admin().AddFamily(table, DefaultFamily("g"))); };
    }
    if (Groups().at("Reshapes").count(step.type) != 0) return ReshapeOf(table, step.type);
    if (step.type == "MendTable") {
      Make(table, true);
      const auto regions = admin().Regions(table);
      const std::string region = regions.ok() && !regions->empty() ? regions->front().region.encoded_name() : "";
      return [=, this] { return Waits(admin().GiveUpRegion(region)); };
    }
    if (Groups().at("Drains").count(step.type) != 0) return DrainOf(table, step);
    if (Groups().at("Settings").count(step.type) != 0) return SettingOf(name, step.type);
    if (Groups().at("Snapshots").count(step.type) != 0) return SnapshotOf(table, step);
    if (Groups().at("Regions").count(step.type) != 0) return [this] { return Move(); };
    if (step.type == "RegisterServer") return [this] { return RestartOne(); };
    const bool meta = step.name.find("META") != std::string::npos;
    return [=, this] { return Crash(meta); };
  }

  // The janitor runs periodically.
  Trigger ReshapeOf(const TableName& table, const std::string& type) {
    Make(table, false);
    const auto regions = admin().Regions(table);
    if (!regions.ok() || regions->size() < 2)
      return [] { return [] { return Status(Error(Code::kInternal, "no table")); }; };
    const RegionInfo first = regions->front().region;
    if (type == "TruncateRegion") return [=, this] { return Waits(admin().TruncateRegion(first)); };
    const bool merge = type.find("Merge") != std::string::npos;
    if (!merge) return [=, this] { return Waits(admin().SplitRegion(first, "2")); };
    const std::string second = (*regions)[1].region.encoded_name();
    return [=, this] { return Waits(admin().MergeRegions({first.encoded_name(), second})); };
  }

  // A server with regions is drained and undrained.
  Trigger DrainOf(const TableName& table, const Step& step) {
    Make(table, false);
    std::vector<std::string> regions;
    if (const auto all = admin().Regions(table); all.ok()) {
      for (const auto& region : *all) regions.push_back(region.region.encoded_name());
    }
    const ServerName server = ServerNameOf("rs-1");
    client::Admin asks = admin();
    const auto back = [=, this] {
      client::Admin again = admin();
      return admin().WaitOk(client::Undrain(again, server, regions));
    };
    if (step.type == "DrainServer") {
      const Status filled = admin().WaitOk(client::Undrain(asks, server, regions));
      if (!filled.ok()) return [=]() -> Waiter { return [=] { return filled; }; };
      return [=, this]() -> Waiter {
        client::Admin drains = admin();
        const auto pid = client::Drain(drains, server, step.name == "STOP_SERVER");
        return [=, this]() -> Status {
          RATCHET_TRY(admin().WaitOk(pid));
          return back();
        };
      };
    }
    const Status drained = admin().WaitOk(client::Drain(asks, server, false));
    return [=, this]() -> Waiter {
      client::Admin takes_back = admin();
      const auto pid = client::Undrain(takes_back, server, regions);
      return [=, this]() -> Status {
        RATCHET_TRY(drained);
        return admin().WaitOk(pid);
      };
    };
  }

  // A namespace of this name is made, changed or removed; or a switch is set.
  Trigger PeerOf(const std::string& name, const std::string& type) {
    std::string id = name;
    std::replace(id.begin(), id.end(), '-', '_');
    hbase::pb::ReplicationPeer config;
    config.set_replicationendpointimpl("org.apache.hadoop.hbase.replication.DummyReplicationEndpoint");
    config.set_replicate_all(true);
    client::Admin asks = admin();
    Status made = Ok();
    const bool adds = type == "AddPeer" || type == "RefreshPeer";
    if (!adds) made = asks.WaitOk(client::AddPeer(asks, id, config, type != "EnablePeer"));
    return [=, this]() -> Waiter {
      client::Admin changes = admin();
      if (!made.ok()) return [=] { return made; };
      if (adds) return Waits(client::AddPeer(changes, id, config, true));
      if (type == "EnablePeer") return Waits(client::EnablePeer(changes, id));
      if (type == "DisablePeer") return Waits(client::DisablePeer(changes, id));
      if (type == "RemovePeer") return Waits(client::RemovePeer(changes, id));
      return Waits(client::UpdatePeer(changes, id, config));
    };
  }

  Trigger SettingOf(const std::string& name, const std::string& type) {
    if (type.find("Peer") != std::string::npos) return PeerOf(name, type);
    if (type.ends_with("Rights")) {
      return [=, this]() -> Waiter {
        hbase::pb::GrantRequest request;
        request.mutable_user_permission()->set_user(name);
        auto& permission = *request.mutable_user_permission()->mutable_permission();
        permission.set_type(hbase::pb::Permission::Global);
        permission.mutable_global_permission()->add_action(hbase::pb::Permission::READ);
        const auto granted = admin().Call(methods::kGrant, request);
        return [granted] { return granted.ok() ? Ok() : Status(granted.error()); };
      };
    }
    if (type == "ReplaceTokenKey") {
      return [this]() -> Waiter {
        const auto replaced = admin().Call(methods::kReplaceTokenKey, {});
        return [replaced] { return replaced.ok() ? Ok() : Status(replaced.error()); };
      };
    }
    if (type == "SetSwitches") {
      return [this]() -> Waiter {
        hbase::pb::SetNormalizerRunningRequest request;
        request.set_on(true);
        const auto set = admin().Call(methods::kSetNormalizerRunning, request);
        return [set] { return set.ok() ? Ok() : Status(set.error()); };
      };
    }
    client::Admin asks = admin();
    Status made = Ok();
    if (type != "CreateNamespace") made = asks.WaitOk(client::CreateNamespace(asks, {name, {}}));
    return [=, this]() -> Waiter {
      client::Admin changes = admin();
      if (!made.ok()) return [=] { return made; };
      if (type == "CreateNamespace") return Waits(client::CreateNamespace(changes, {name, {}}));
      if (type == "DeleteNamespace") return Waits(client::DeleteNamespace(changes, name));
      return Waits(client::ModifyNamespace(changes, {name, {{"owner", "sweep"}}}));
    };
  }

  // Snapshots of an enabled or a disabled table, and restores into a new table or into the disabled one.
  Trigger SnapshotOf(const TableName& table, const Step& step) {
    const bool restore = step.type == "RestoreSnapshot";
    Make(table, restore || step.name == "SNAPSHOT_CLOSED_REGIONS");
    const std::string name = table.qualifier + "_s";
    if (step.type.starts_with("Snapshot"))
      return [=, this] { return Waits(client::Snapshots(connection()).Take(name, table, {})); };
    const Status taken = admin().WaitOk(client::Snapshots(connection()).Take(name, table, {}));
    if (!taken.ok()) return [=]() -> Waiter { return [=] { return taken; }; };
    if (step.type == "ExportSnapshot")
      return [=, this] { return Waits(client::Snapshots(connection()).Export(name, PlaceOf(name))); };
    if (step.type == "ImportSnapshot") {
      const Status exported = admin().WaitOk(client::Snapshots(connection()).Export(name, PlaceOf(name)));
      if (!exported.ok()) return [=]() -> Waiter { return [=] { return exported; }; };
      return [=, this] { return Waits(client::Snapshots(connection()).Import(PlaceOf(name), name + "i")); };
    }
    const TableName into = restore ? table : TableName("default", table.qualifier + "_c");
    return [=, this] { return Waits(client::Snapshots(connection()).PutBack(name, into)); };
  }

  Result<std::uint64_t> Create(const TableName& table, const std::vector<std::string>& keys = {"4", "8"}) {
    TableDescriptor descriptor;
    descriptor.name = table;
    descriptor.families.push_back(DefaultFamily("u"));
    return admin().CreateTable(descriptor, keys);
  }
  void Make(const TableName& table, bool disabled) {
    ASSERT_OK(admin().WaitOk(Create(table)));
    if (disabled) ASSERT_OK(admin().WaitOk(admin().DisableTable(table)));
  }
  Waiter Waits(Result<std::uint64_t> pid) {
    return [this, pid = std::move(pid)] { return admin().WaitOk(pid); };
  }
  Waiter Settles() {
    return [this] { return cluster().WaitServing(kPatience); };
  }

  // A user region, the process that has it, and another process.
  struct Place {
    std::string region;
    std::string source;
    std::string target;
  };
  Place FindPlace() {
    Place place;
    const auto regions = admin().Regions(TableName("default", "t"));
    if (!regions.ok() || regions->empty()) return place;
    place.region = regions->front().region.encoded_name();
    const auto meta = cluster().MetaHolder();
    for (const auto& name : cluster().Names(Role::kRegionServer)) {
      if (cluster().Info(name).port == regions->front().server.port)
        place.source = name;
      else if (!meta.ok() || name != *meta)
        place.target = name;
    }
    return place;
  }
  Waiter Move() {
    const Place place = FindPlace();
    IgnoreResult(admin().Move(place.region, ServerNameOf(place.target)), "the master may die before it answers");
    return Settles();
  }
  Waiter Crash(bool meta) {
    const auto holder = cluster().MetaHolder();
    std::string victim = holder.ok() ? *holder : "";
    for (const auto& name : cluster().Names(Role::kRegionServer)) {
      if (!meta && name != *holder) victim = name;
    }
    if (!meta) GiveData(victim);
    EXPECT_TRUE(cluster().Kill9(victim).ok());
    return Settles();
  }
  // A region and writes to it, so that there is a log to split.
  void GiveData(const std::string& process) {
    const Place place = FindPlace();
    if (place.source != process) {
      EXPECT_TRUE(admin().Move(place.region, ServerNameOf(process)).ok());
      EXPECT_TRUE(cluster().WaitServing(kPatience).ok());
    }
    WaitForWrites(100);  // spread over six regions
  }
  Waiter RestartOne() {
    const Place place = FindPlace();
    EXPECT_TRUE(cluster().Restart(place.target).ok());
    return Settles();
  }

  std::string armed_;
  const std::filesystem::path exports_ =
      std::filesystem::temp_directory_path() / fmt::format("ratchet-sweep-exports-{:x}", RandomSeed() & 0xffffffU);
  int tables_ = 0;
};

TEST_F(MasterSweepTest, EveryTypeHasATrigger) {
  SkipVerification();
  const auto steps = ListSteps();
  ASSERT_FALSE(steps.empty());
  for (const auto& step : steps) {
    bool found = false;
    for (const auto& [group, types] : Groups()) found = found || types.count(step.type) != 0;
    EXPECT_TRUE(found) << step.type << " is swept by no test";
  }
}

TEST_F(MasterSweepTest, Tables) {
  Boot(2, 2);
  if (!HasFatalFailure()) SweepGroup("Tables");
}

TEST_F(MasterSweepTest, Reshapes) {
  Boot(2, 2);
  if (!HasFatalFailure()) SweepGroup("Reshapes");
}

TEST_F(MasterSweepTest, Altering) {
  Boot(2, 2);
  if (!HasFatalFailure()) SweepGroup("Altering");
}

TEST_F(MasterSweepTest, Drains) {
  Boot(2, 2);
  if (!HasFatalFailure()) SweepGroup("Drains");
}

TEST_F(MasterSweepTest, Settings) {
  Boot(2, 2);
  if (!HasFatalFailure()) SweepGroup("Settings");
}

TEST_F(MasterSweepTest, Snapshots) {
  ClusterSpec spec;
  spec.master_flags = {"--snapshot-export-dir", exports_.string()};
  Boot(2, 2, spec);
  if (!HasFatalFailure()) SweepGroup("Snapshots");
}

TEST_F(MasterSweepTest, Regions) {
  Boot(2, 3);
  if (!HasFatalFailure()) MakeTable("t", 3);
  if (!HasFatalFailure()) SweepGroup("Regions");
}

TEST_F(MasterSweepTest, Servers) {
  Boot(2, 3);
  if (!HasFatalFailure()) MakeTable("t", 6);
  if (!HasFatalFailure()) StartWriter("t");
  if (!HasFatalFailure()) SweepGroup("Servers");
}

TEST_F(MasterSweepTest, Batches) {
  ClusterSpec spec;
  spec.master_flags = {"--assign-batch-least", "2"};
  Boot(2, 2, spec);
  if (!HasFatalFailure()) MakeTable("t", 6);
  if (!HasFatalFailure()) StartWriter("t");
  if (!HasFatalFailure()) SweepGroup("Batches");
}

// Meta is created once in the life of a cluster: a fresh one for each round.
TEST_F(MasterSweepTest, Start) {
  for (const auto& step : ListSteps()) {
    if (Groups().at("Start").count(step.type) == 0) continue;
    for (const char* when : {"before", "after"}) {
      SCOPED_TRACE(fmt::format("{} the commit of {}", when, step.Detail()));
      ClusterSpec spec;
      BootInterrupted(fmt::format("executor.{}_commit~{}=crash", when, step.Detail()));
      if (HasFatalFailure()) return;
      MakeTable("t", 3);
      if (HasFatalFailure()) return;
      Verify();
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace ratchet::chaos
