#include "master/startup/activation.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "common/base/backoff.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/base/went_back.h"
#include "master/cluster/address_key.h"
#include "master/cluster/decommissions.h"
#include "master/cluster/membership.h"
#include "master/cluster/namespace_directory.h"
#include "master/cluster/peer_directory.h"
#include "master/cluster/region_directory.h"
#include "master/cluster/registrations.h"
#include "master/cluster/rights_book.h"
#include "master/cluster/switches.h"
#include "master/cluster/table_directory.h"
#include "master/env/cluster_files.h"
#include "master/env/live_servers.h"
#include "master/procedures/admin/init_meta.h"
#include "master/procedures/assignment/transit_region_state.h"
#include "master/procedures/core/common.h"
#include "master/procedures/core/master_env.h"
#include "master/procedures/core/master_options.h"
#include "master/procedures/core/schema_reader.h"
#include "master/procedures/crash/server_crash.h"
#include "master/procedures/table/table_steps.h"
#include "master/repair/table_comparison.h"
#include "master/requests/foreign_numbers.h"
#include "master/requests/server_manager.h"
#include "procedure/api/executor.h"

namespace ratchet::master {

namespace {

struct StepRow {
  ActivationStep step;
  std::string_view name;
  Status (Activation::*run)();  // null: RunUntilWorkersStarted does not run this step
};
// All steps, in their order.
constexpr std::array kStepRows{
    StepRow{ActivationStep::kNotStarted, "not started", nullptr},
    StepRow{ActivationStep::kClaimStore, "claim store", &Activation::ClaimStore},
    StepRow{ActivationStep::kAttachProcedures, "attach procedures", &Activation::AttachProcedures},
    StepRow{ActivationStep::kScheduleMeta, "schedule meta", &Activation::ScheduleMeta},
    StepRow{ActivationStep::kFindDeadServers, "find dead servers", &Activation::FindDeadServers},
    StepRow{ActivationStep::kStartWorkers, "start workers", &Activation::StartWorkers},
    StepRow{ActivationStep::kLoadMeta, "load meta", nullptr},
    StepRow{ActivationStep::kReady, "ready", nullptr},
};

}  // namespace

std::string_view ActivationStepName(ActivationStep step) {
  for (const StepRow& row : kStepRows) {
    if (row.step == step) return row.name;
  }
  return "?";
}

void Activation::Enter(ActivationStep step) {
  step_ = step;
  // the shell logs the beginning and the end of each step
  RATCHET_LOG(kDebug, "Activation: {}", ActivationStepName(step));
  if (on_step_) on_step_(step);
}

Status Activation::RunUntilWorkersStarted(const AroundStep& around) {
  for (const StepRow& row : kStepRows) {
    if (row.run == nullptr) continue;
    RATCHET_TRY(around ? around(row.step, [this, &row] { return (this->*row.run)(); }) : (this->*row.run)());
  }
  return Ok();
}

Status Activation::ClaimStore() {
  Enter(ActivationStep::kClaimStore);
  const auto epoch = env_.executor->Recover();  // procedures attach themselves meanwhile (Procedure::OnRecovered)
  if (!epoch.ok()) return epoch.error();
  RATCHET_LOG(kInfo, "Activation: claimed epoch {}", *epoch);
  return Ok();
}

Status Activation::AttachProcedures() {
  Enter(ActivationStep::kAttachProcedures);
  const auto records = env_.executor->SystemRecords();
  for (const auto& [key, value] : records) {
    if (key == kStartCodeFloorRecord) {
      const auto floor = ServerName::Parse("floor,1," + value);
      if (!floor.ok()) return Error(Code::kCorruption, "system record " + key + ": " + floor.error().message());
      env_.registrations.RaiseStartCodeFloor(floor->start_code);
    }
    if (key.starts_with(kDecommissionRecordPrefix)) {
      const auto marked = ServerName::Parse(key.substr(kDecommissionRecordPrefix.size()) + ",1");
      if (marked.ok()) env_.decommissions.Show(*marked, value);
      if (!marked.ok())
        RATCHET_LOG(kError, "Activation: system record {} is skipped: {}", key, marked.error().ToString());
    }
    if (key.starts_with(kNamespaceRecordPrefix)) env_.namespaces.Show(key.substr(kNamespaceRecordPrefix.size()), value);
    if (key.starts_with(kPeerRecordPrefix)) env_.peers.Show(key.substr(kPeerRecordPrefix.size()), value);
    if (key.starts_with(kRightsRecordPrefix)) env_.rights.Show(key, value);
    if (key.starts_with(kTokenKeyRecordPrefix)) env_.rights.ShowTokenKey(key, value);
    if (key.starts_with(kTokenRecordPrefix)) env_.rights.ShowToken(key, value);
    if (key.starts_with(kQueueRecordPrefix)) env_.peers.ShowQueue(key.substr(kQueueRecordPrefix.size()), value);
    if (key.starts_with(kSwitchRecordPrefix)) {
      if (const auto which = SwitchNamed(key.substr(kSwitchRecordPrefix.size()))) env_.switches.Show(*which, value);
    }
    if (!key.starts_with(kStartCodeRecordPrefix)) continue;
    const std::string address = key.substr(kStartCodeRecordPrefix.size());
    const auto server = ServerName::Parse(address + "," + value);
    // an old record; a server with such a name can no longer register (S58: server name proven by storage)
    if (!server.ok()) {
      RATCHET_LOG(kError, "Activation: system record {} is skipped: {}", key, server.error().ToString());
      continue;
    }
    env_.registrations.RaiseStartCode(*server);
  }
  if (const auto meta = records.find(std::string(kMetaLocationRecord)); meta != records.end()) {
    pb::MetaLocation location;
    if (!location.ParseFromString(meta->second))
      return Error(Code::kCorruption, "system record meta/location is unreadable");
    // The state of an unfinished procedure is newer, and Add does not override it. Without such a procedure the last
    // opening was completed.
    const auto parsed = ServerName::Parse(location.server());
    if (!parsed.ok()) return Error(Code::kCorruption, "system record meta/location: " + parsed.error().message());
    const ServerName& server = *parsed;
    RegionRow row{MetaRegionInfo(), RegionState::kOpen, server, server, 0, location.transition()};
    row.issued = location.issued();
    row.served = location.served();
    row.flushed = location.flushed();
    env_.regions.Add(row);
  }
  RATCHET_LOG(kInfo, "Activation: {} regions in transition, {} crash procedures", env_.regions.InTransition().size(),
              env_.executor->FindUnfinished(ServerCrash::kTypeName).size());
  return Ok();
}

// S115 (missing row is not evidence): returns an error if tables exist, because a new hbase:meta would name none of
// them.
Status Activation::CheckNoTables() {
  const auto directories = env_.files.ListTableDirectories();
  if (!directories.ok()) return directories.error().Annotate("listing table directories");
  for (const std::string& directory : *directories) {
    // The directory of hbase:meta itself may exist: an earlier creation of hbase:meta may have been interrupted.
    if (directory == TableDirectoryName(MetaTableName(), ProcId(1))) continue;
    return WentBack(
        fmt::format("procedures/ has no record of hbase:meta's location, but data/{} exists: restore the newest "
                    "procedures/; nothing was changed",
                    directory));
  }
  return Ok();
}

Status Activation::CheckMetaDirectory() {
  const auto directories = env_.files.ListTableDirectories();
  if (!directories.ok()) return directories.error().Annotate("listing table directories");
  const std::string own = TableDirectoryName(MetaTableName(), ProcId(1));
  if (std::find(directories->begin(), directories->end(), own) != directories->end()) return Ok();
  return WentBack(fmt::format(
      "data/{} is missing, and hbase:meta was open: restore the newest data/{}; nothing was changed", own, own));
}

Status Activation::ScheduleMeta() {
  Enter(ActivationStep::kScheduleMeta);
  if (env_.executor->SystemRecords().contains(std::string(kMetaLocationRecord))) return CheckMetaDirectory();
  if (!env_.executor->FindUnfinished(InitMeta::kTypeName).empty()) return Ok();
  RATCHET_TRY(CheckNoTables());
  const auto pid = env_.executor->Submit(InitMeta::Make(), procedure::SubmitOptions{});
  if (!pid.ok()) return pid.error();
  RATCHET_LOG(kInfo, "Activation: pid={} creates hbase:meta", *pid);
  return Ok();
}

Status Activation::FindDeadServers() {
  Enter(ActivationStep::kFindDeadServers);
  // All servers that may have had a region: directories, records, and where meta is. ZooKeeper is read after them (S34:
  // which servers may be dead).
  struct Traces {
    bool fenced = false;
    bool meta = false;                  // the record of hbase:meta's location names this server
    std::optional<std::string> record;  // its version
  };
  std::map<ServerName, Traces> candidates;
  const auto directories = env_.files.ListLogDirectories();
  if (!directories.ok()) return directories.error().Annotate("listing log directories");
  for (const LogDirectory& directory : *directories) {
    if (!RATCHET_MUTANT("master.ignore_directories")) candidates[directory.server].fenced |= directory.fenced;
  }
  for (const auto& [key, value] : env_.executor->SystemRecords()) {
    if (!key.starts_with(kServerRecordPrefix) || RATCHET_MUTANT("master.ignore_records")) continue;
    const auto server = ServerName::Parse(key.substr(kServerRecordPrefix.size()));
    if (!server.ok()) {
      RATCHET_LOG(kError, "Activation: system record {} is skipped: {}", key, server.error().ToString());
      continue;
    }
    candidates[*server].record = value;
  }
  if (const auto meta = env_.regions.Get(kMetaEncodedName); meta && meta->location)
    candidates[*meta->location].meta = true;
  const auto live = env_.live_servers.Read();
  if (!live.ok()) return live.error().Annotate("reading the live servers");
  const std::set<ServerName> alive(live->begin(), live->end());
  // A newer incarnation at the same address replaces an older one, even if ZooKeeper still lists the older one.
  std::map<std::string, std::uint64_t> youngest;
  for (const ServerName& server : alive) {
    std::uint64_t& code = youngest[AddressKey(server)];
    code = std::max(code, server.start_code);
  }
  for (const auto& [server, traces] : candidates) {
    if (env_.servers.PhaseOf(server)) continue;  // it has a crash procedure
    if (traces.fenced) {
      manager_.ExpireUnknown(server, "its logs are fenced, and it has no crash procedure");
    } else if (!traces.record && !traces.meta && !RATCHET_MUTANT("master.expire_unregistered")) {
      // The server has made its logs and never had a region or an order: it is about to register, or StrayLogs removes
      // the logs.
      RATCHET_LOG(kInfo, "Activation: {} has logs and was never registered", server.ToString());
    } else if (!alive.contains(server)) {
      manager_.ExpireUnknown(server, "it is not registered in ZooKeeper");
    } else if (server.start_code < youngest[AddressKey(server)]) {
      manager_.ExpireUnknown(server, "a newer server runs at its address");
    } else if (traces.record) {
      env_.registrations.RaiseStartCode(server);
      env_.servers.AddOnline(server, *traces.record);
    } else if (traces.meta) {
      manager_.ExpireUnknown(server, "the record of hbase:meta's location names it, and it was never registered");
    }
  }
  const bool any_dead = std::any_of(candidates.begin(), candidates.end(), [this](const auto& each) {
    return each.second.record || each.second.meta || env_.servers.PhaseOf(each.first);
  });
  if (any_dead && env_.servers.Online().empty()) env_.servers.SetFoundNoneOnline(env_.options.retain_wait);
  return Ok();
}

Status Activation::StartWorkers() {
  Enter(ActivationStep::kStartWorkers);
  env_.executor->Start();
  return Ok();
}

void Activation::LoadMeta(std::function<void(Status)> done) {
  Enter(ActivationStep::kLoadMeta);
  ScanMeta(1, std::move(done));
}

void Activation::ScanMeta(std::uint32_t attempt, std::function<void(Status)> done) {
  if (!env_.regions.MetaLocation()) {
    constexpr Millis kLook{5};
    constexpr std::uint32_t kLooksPerLine = 1000;
    if (attempt % kLooksPerLine == 0) {
      const auto meta = env_.regions.Get(kMetaEncodedName);
      RATCHET_LOG(kWarn, "Activation: still waiting for hbase:meta, which is {} at {}, pid={}",
                  meta ? RegionStateText(meta->state) : "not there",
                  meta && meta->location ? meta->location->ToString() : "null", meta ? meta->owner : ProcId());
    }
    timers_.After(kLook, [this, alive = std::weak_ptr(alive_), attempt, done = std::move(done)]() mutable {
      if (!alive.expired()) ScanMeta(attempt + 1, std::move(done));
    });
    return;
  }
  // S67 (raise the epoch, then read meta): a no-op delete raises the fencing epoch of hbase:meta first, so that no
  // write of an earlier master can follow the read.
  MetaEdit raise;
  raise.kind = MetaEdit::Kind::kDeleteTable;
  raise.table.table = MetaTableName();
  auto read = [this, alive = std::weak_ptr(alive_), attempt, done = std::move(done)](const Status& raised) mutable {
    if (alive.expired()) return;
    if (!raised.ok()) return AfterLoad(raised, attempt, std::move(done));
    env_.meta.Scan([this, alive, attempt, done = std::move(done)](Result<MetaContents> contents) mutable {
      if (alive.expired()) return;
      if (!contents.ok()) return AfterLoad(contents.error(), attempt, std::move(done));
      // The descriptor of each table is read below; crash procedures and their orders continue meanwhile.
      auto take = [this, alive, attempt, done, read = std::make_shared<MetaContents>(std::move(*contents))] {
        if (!alive.expired()) AfterLoad(LoadMeta(*read), attempt, done);
      };
      if (!env_.RunSlowWork(std::move(take))) {
        AfterLoad(Error(Code::kUnavailable, "too many other tasks wait for the storage"), attempt, std::move(done));
      }
    });
  };
  if (RATCHET_MUTANT("master.read_before_raising")) return read(Ok());
  env_.meta.Write({std::move(raise)}, std::move(read));
}

void Activation::AfterLoad(Status taken, std::uint32_t attempt, std::function<void(Status)> done) {
  if (taken.ok() || taken.error().code() == Code::kFenced || IsWentBack(taken.error())) {
    if (taken.ok()) Enter(ActivationStep::kReady);
    return done(std::move(taken));
  }
  RATCHET_LOG(kWarn, "Activation: hbase:meta cannot be loaded yet: {}", taken.error().ToString());
  constexpr Millis kAgain{100};
  timers_.After(kAgain, [this, alive = std::weak_ptr(alive_), attempt, done = std::move(done)]() mutable {
    if (!alive.expired()) ScanMeta(attempt + 1, std::move(done));
  });
}

void Activation::LoadTables(const MetaContents& contents) {
  for (const TableRow& row : contents.tables) {
    TableNode table;
    table.name = row.table;
    table.state = row.state;
    table.directory = row.directory;
    table.transition = row.transition;
    ReadSchema(env_, table);
    if (table.schema == nullptr) RATCHET_LOG(kError, "Activation: {}", table.schema_error);
    env_.tables.Put(std::move(table));
  }
}

// Returns the servers that have regions and are unknown to the master.
std::vector<ServerName> Activation::LoadRegions(const MetaContents& contents) {
  std::set<ServerName> unknown;
  for (const RegionRow& row : contents.regions) {
    // A leftover row of an earlier table of the same name; the reconciler removes it.
    const auto table = env_.tables.Get(row.region.table);
    if (table && IsOfAnotherTable(row.region, row.transition, table->directory)) continue;
    env_.regions.Add(row);
    const auto node = env_.regions.Get(row.region.encoded_name());
    // A procedure gives orders only to recorded servers, and only the last step of a crash procedure removes a record.
    if (node->owner.valid()) continue;
    const bool known =
        !node->location || env_.servers.PhaseOf(*node->location) || RATCHET_MUTANT("master.ignore_locations");
    if (!known) unknown.insert(*node->location);
  }
  return {unknown.begin(), unknown.end()};
}

Status Activation::LoadMeta(const MetaContents& contents) {
  RATCHET_TRY(CheckNumbersOf(*env_.executor, contents));
  LoadTables(contents);
  // Expires unknown servers before other parts may look at regions, because they treat an unknown server as recovered.
  for (const ServerName& server : LoadRegions(contents)) {
    manager_.ExpireUnknown(server, "hbase:meta names it as the server of regions, and the master does not know it");
  }
  env_.meta_loaded.store(true);
  env_.executor->Wake(MetaLoadedEvent());
  AssignLeftBehind();
  RATCHET_LOG(kInfo, "Activation: hbase:meta has {} tables, {} regions", contents.tables.size(),
              contents.regions.size());
  return Ok();
}

// Assigns at once the regions that an ended procedure has left; the reconciler (Reconciler::Sweep) would do it later.
void Activation::AssignLeftBehind() {
  // Regions without a location wait for the region list of every server: the reconciler assigns them (S71: ask servers
  // for unplaced regions).
  const auto unsettled = env_.regions.Select([](const RegionNode& node) {
    if (node.owner.valid() || node.unplaced) return false;
    return node.state == RegionState::kOffline || (!node.info.IsMeta() && !IsAtRest(node.state));
  });
  for (const RegionNode& node : unsettled) {
    if (!IsLeftBehind(env_, node)) continue;
    if (node.location && env_.servers.PhaseOf(*node.location) != ServerPhase::kOnline)
      continue;  // its crash procedure assigns the region
    RATCHET_LOG(kWarn, "Activation: region {} was left {}; assigned again", node.encoded, RegionStateText(node.state));
    env_.executor->SubmitAsync(TransitRegionState::Assign(node.info, {}), procedure::SubmitOptions{},
                               [](const Result<ProcId>&) {});
  }
}

}  // namespace ratchet::master
