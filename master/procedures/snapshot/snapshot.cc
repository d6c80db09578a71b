#include "master/procedures/snapshot/snapshot.h"

#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/model/codec.h"
#include "master/cluster/errors.h"
#include "master/cluster/key_ranges.h"
#include "master/cluster/membership.h"
#include "master/cluster/region_directory.h"
#include "master/cluster/table_directory.h"
#include "master/procedures/core/act_on_files.h"
#include "master/procedures/core/master_options.h"
#include "master/procedures/rights/snapshot_rights.h"
#include "master/procedures/snapshot/snapshot_copy.h"
#include "master/procedures/table/table_steps.h"
#include "procedure/api/executor.h"

namespace ratchet::master {
namespace {

constexpr std::string_view kSnapshotKey = "snapshot";  // in the description
// Bounds the procedure's record, which is written with each step.
constexpr std::size_t kMaxRegions = 20'000;
// Maximum number of rounds in a row in which a server reports that it cannot copy a region.
constexpr std::uint32_t kMostRoundsThatFail = 5;

std::optional<SnapshotHold> HoldThat(const MasterEnv& env, const std::function<bool(const SnapshotHold&)>& is_it) {
  for (const SnapshotHold& hold : env.snapshots.List()) {
    if (!SnapshotRuns(env, hold.pid)) {
      env.snapshots.Release(hold.pid);
    } else if (is_it(hold)) {
      return hold;
    }
  }
  return std::nullopt;
}

// S45 (snapshot hold): the unfinished snapshot that holds the table, or the name.
std::optional<SnapshotHold> SnapshotOf(const MasterEnv& env, const TableName& table) {
  return HoldThat(env, [&table](const SnapshotHold& hold) { return hold.table == table; });
}

std::optional<SnapshotHold> SnapshotNamed(const MasterEnv& env, const std::string& name) {
  return HoldThat(env, [&name](const SnapshotHold& hold) { return hold.name == name; });
}

}  // namespace

bool SnapshotRuns(const MasterEnv& env, ProcId pid) {
  return env.executor->GetResult(pid).status == procedure::ProcedureResult::Status::kRunning;
}

std::optional<ProcId> UnfinishedSnapshot(const MasterEnv& env, const std::string& name) {
  for (const ProcId pid : env.executor->FindUnfinished(Snapshot::kTypeName)) {
    const auto info = env.executor->Get(pid);
    if (info.has_value() && info->description.Get(kSnapshotKey) == name) return pid;
  }
  return std::nullopt;
}

Status NotHeld(const MasterEnv& env, const TableName& table) {
  const auto hold = SnapshotOf(env, table);
  if (!hold || RATCHET_MUTANT("snapshot.no_hold")) return Ok();
  return IllegalRequest(
      fmt::format("pid={2} is taking snapshot {0} of table {1}: its regions cannot be split or merged until it has "
                  "ended; retry then, or abort it",
                  hold->name, table.ToString(), hold->pid));
}

Status CheckSnapshot(const MasterEnv& env, const TableName& table, const std::string& name, ProcId self) {
  RATCHET_TRY(CheckSnapshotName(name));
  if (table.IsSystem())
    return IllegalRequest(fmt::format("table {} is a system table, which has no snapshots", table.ToString()));
  const auto node = env.tables.Get(table);
  if (!node) return SnapshotFailed(fmt::format("Table '{}' doesn't exist, can't take snapshot.", table.ToString()));
  if (IsBetween(node->state)) {
    return SnapshotFailed(fmt::format("table {} is {}: neither entirely open nor entirely closed", table.ToString(),
                                      TableStateText(node->state)));
  }
  for (const auto& hold : {SnapshotOf(env, table), SnapshotNamed(env, name)}) {
    if (!hold || hold->pid == self) continue;
    return SnapshotFailed(
        fmt::format("pid={} is already taking snapshot {} of table {}; only one can run for a table or a name",
                    hold->pid, hold->name, hold->table.ToString()));
  }
  return Ok();
}

ProcedurePtr Snapshot::Make(const TableName& table, const hbase::pb::SnapshotDescription& description) {
  pb::SnapshotData data;
  data.set_ns(table.ns);
  data.set_qualifier(table.qualifier);
  data.set_description(description.SerializeAsString());
  return std::make_unique<Snapshot>(std::move(data));
}

hbase::pb::SnapshotDescription Snapshot::Description() const {
  hbase::pb::SnapshotDescription description;
  if (!description.ParseFromString(data_.description()))
    // parks the procedure (S79: invalid record is parked)
    throw std::invalid_argument("unreadable description of a snapshot");
  return description;
}

SnapshotHold Snapshot::HoldOf() const { return {pid(), Description().name(), Table()}; }

std::optional<procedure::PartsLeft> Snapshot::Parts() const {
  if (!data_.held()) return std::nullopt;
  const auto left = std::count_if(data_.parts().begin(), data_.parts().end(),
                                  [](const pb::SnapshotPartData& part) { return part.number() == 0; });
  return procedure::PartsLeft{static_cast<std::uint64_t>(left), static_cast<std::uint64_t>(data_.parts_size())};
}

procedure::Description Snapshot::Describe() const {
  procedure::Description about;
  about.Add(kSnapshotKey, Description().name()).Add("table", Table().ToString());
  AddRegionsLeft(about, Parts());
  return about;
}

procedure::LockSet Snapshot::Locks() const {
  if (data_.released()) return {};
  return {procedure::Exclusive(TableKey(Table()))};
}

// While the table's lock is held, no split or merge is between its first state and its commit or rollback.
StepOutcome Snapshot::Prepare(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  hbase::pb::SnapshotDescription description = Description();
  env.snapshots.Hold(HoldOf());  // also reserves the name, before the search for other snapshots
  if (Status sound = CheckSnapshot(env, Table(), description.name(), ctx.pid()); !sound.ok())
    return Fail{sound.error()};
  auto there = FindForStep(ctx, description.name());
  RATCHET_STEP(there.wait);
  if (there.result->ok()) return Fail{SnapshotExists(description.name())};
  if (there.result->error().code() != Code::kNotFound) return AgainUnlessFinal(there.result->error());
  RATCHET_STEP(ReadNewestSchema(ctx, Table()));
  const auto table = env.tables.Get(Table());
  if (!table || table->schema == nullptr) return Fail{TableNotFound(Table())};
  std::vector<RegionNode> regions = env.regions.OfTable(Table());
  std::erase_if(regions, [](const RegionNode& node) { return !HasItsRows(node.state); });
  if (regions.size() > kMaxRegions) {
    return Fail{SnapshotFailed(fmt::format("table {} has {} regions; the limit of a snapshot is {}", Table().ToString(),
                                           regions.size(), kMaxRegions))};
  }
  if (const auto problems = RangeProblems(Table(), regions, 1); !problems.empty())
    return Fail{SnapshotFailed(problems.front())};
  data_.clear_parts();
  for (const RegionNode& node : regions) *data_.add_parts()->mutable_region() = ToData(node.info);
  hbase::pb::TableSchema schema;
  ToProto(*table->schema, schema);
  data_.set_schema(schema.SerializeAsString());
  data_.set_schema_number(table->schema_number);
  data_.set_table_directory(table->directory);
  data_.set_directory(SnapshotDirectoryName(description.name(), ctx.pid()));
  data_.set_disabled(table->state == TableState::kDisabled);
  if (data_.disabled()) description.set_type(hbase::pb::SnapshotDescription::DISABLED);
  data_.set_description(description.SerializeAsString());
  data_.set_held(true);
  return GoTo<&Snapshot::WriteInfo>();
}

StepOutcome Snapshot::WriteInfo(StepContext& ctx) {
  std::vector<std::string> encoded;
  for (const pb::SnapshotPartData& part : data_.parts()) encoded.push_back(FromData(part.region()).encoded_name());
  auto made = MakeSnapshotLayout(ctx, data_.directory(), std::move(encoded));
  RATCHET_STEP(made.wait);
  if (!made.result->ok()) {
    const Error& why = made.result->error();
    if (why.code() == Code::kNoSpace || why.code() == Code::kInvalidArgument) return GiveUp(ctx, why);
    return Retry{why, std::nullopt};
  }
  data_.set_released(true);
  return GoToRegions();
}

StepOutcome Snapshot::GoToRegions() const {
  return data_.disabled() ? GoTo<&Snapshot::TakeClosedRegions>() : GoTo<&Snapshot::TakeOnlineRegions>();
}

StepOutcome Snapshot::GiveUp(StepContext& ctx, const Error& why) {
  RATCHET_STEP(ArchiveForStep(ctx, data_.directory()));
  return Fail{why};
}

Status Snapshot::CheckTable(const MasterEnv& env) const {
  const auto table = env.tables.Get(Table());
  if (!table || table->directory != data_.table_directory()) {
    return SnapshotFailed(fmt::format("table {} was deleted, truncated or restored while its snapshot was being taken",
                                      Table().ToString()));
  }
  if (table->schema_number == data_.schema_number()) return Ok();
  return SnapshotFailed(
      fmt::format("table {} was altered while its snapshot was being taken: retry", Table().ToString()));
}

// S46 (source of a snapshot part): gives an order for each region that is open, or closed on purpose; waits for all
// others.
StepOutcome Snapshot::TakeRegions(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  if (Status same = CheckTable(env); !same.ok()) return GiveUp(ctx, same.error());
  const std::vector<ServerName> online = env.servers.Online();
  const bool flush = Description().type() != hbase::pb::SnapshotDescription::SKIPFLUSH;
  std::vector<ProcedurePtr> orders;
  std::size_t left = 0;
  std::string waits_for;
  for (const pb::SnapshotPartData& part : data_.parts()) {
    if (part.number() != 0) continue;
    ++left;
    const std::string encoded = FromData(part.region()).encoded_name();
    const auto node = env.regions.Get(encoded);
    if (!node || !HasItsRows(node->state)) {
      return GiveUp(ctx,
                    SnapshotFailed(fmt::format("region {} of table {} is gone: it was truncated or given up while the "
                                               "snapshot was being taken",
                                               encoded, Table().ToString())));
    }
    const bool free = !node->owner.valid() && !node->unplaced;
    if (free && node->state == RegionState::kOpen && node->location && env.servers.IsOnline(*node->location)) {
      orders.push_back(SnapshotRegion::Make(*node, node->location->ToString(), data_, flush));
    } else if (free && node->state == RegionState::kClosed && !online.empty()) {
      orders.push_back(SnapshotRegion::Make(*node, online[left % online.size()].ToString(), data_, flush));
    } else {
      waits_for = fmt::format("region {} is {}", encoded, RegionStateText(node->state));
    }
  }
  if (!orders.empty()) return SpawnThen<&Snapshot::ConfirmRegions>(std::move(orders));
  if (left == 0) return GoTo<&Snapshot::Consolidate>();
  return Retry{Error(Code::kUnavailable, fmt::format("{} regions left; {}", left, waits_for)),
               BackoffDelay(env.options.retry, ctx.attempt(), ctx.prng())};
}

StepOutcome Snapshot::ConfirmRegions(StepContext& ctx) {
  std::map<std::string, pb::SnapshotPartData*> parts;
  for (pb::SnapshotPartData& part : *data_.mutable_parts()) parts[FromData(part.region()).encoded_name()] = &part;
  const CopyRound round = CopiesOf(ctx);
  for (const MadeCopy& made : round.made) {
    const auto part = parts.find(made.source);
    if (part == parts.end()) continue;
    part->second->set_number(made.number.value());
    part->second->set_sequence(made.sequence);
    part->second->set_files(made.files);
    part->second->set_bytes(made.bytes);
  }
  // A closed region that is not ready stays so until it is opened: its server died during the final close, and the
  // table's descriptor could not be read.
  const auto unready = EnvOf(ctx).regions.Get(round.not_ready);
  const bool stays = unready && unready->state == RegionState::kClosed && !unready->owner.valid();
  data_.set_failures(round.refused || stays ? data_.failures() + 1 : 0);
  if (data_.failures() >= kMostRoundsThatFail) {
    const char* instead =
        stays ? "; open the region (ratchet assign, or enable the table), then retry the snapshot" : "";
    return GiveUp(ctx, SnapshotFailed(round.why + instead));
  }
  // Repeats the orders after a pause, at the servers that have the regions then.
  if (!round.why.empty() && ctx.attempt() == 1) {
    return Retry{Error(Code::kUnavailable, round.why),
                 BackoffDelay(EnvOf(ctx).options.retry, 2 + data_.failures(), ctx.prng())};
  }
  return GoToRegions();
}

StepOutcome Snapshot::Consolidate(StepContext& ctx) {
  hbase::pb::SnapshotParts parts;
  if (!parts.mutable_schema()->ParseFromString(data_.schema()))
    return GiveUp(ctx, SnapshotFailed("unreadable table schema"));
  for (const pb::SnapshotPartData& taken : data_.parts()) {
    auto* part = parts.add_part();
    ToProto(FromData(taken.region()), *part->mutable_region());
    part->set_number(taken.number());
    part->set_sequence(taken.sequence());
    part->set_files(taken.files());
    part->set_bytes(taken.bytes());
  }
  // A later change of the table's name or directory fails the snapshot (Verify), so these are rights of this table.
  RightsOfSnapshot(EnvOf(ctx), Table(), parts);
  auto put = PutForStep(ctx, data_.directory(), kSnapshotParts, parts.SerializeAsString());
  RATCHET_STEP(put.wait);
  if (!put.result->ok()) {
    const Error& why = put.result->error();
    if (why.code() == Code::kNotFound || why.code() == Code::kNoSpace)
      return GiveUp(ctx, SnapshotFailed(why.message()));
    return Retry{why, std::nullopt};
  }
  return GoTo<&Snapshot::Verify>();
}

// Checks that the parts on the storage cover the table's keys once, and that the table is still the same.
StepOutcome Snapshot::Verify(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  if (Status same = CheckTable(env); !same.ok()) return GiveUp(ctx, same.error());
  auto read = PartsForStep(ctx, data_.directory());
  RATCHET_STEP(read.wait);
  const auto& parts = *read.result;
  if (!parts.ok()) return GiveUp(ctx, parts.error());
  std::vector<RegionNode> taken;
  for (const auto& part : parts->part()) {
    auto region = FromProto(part.region());
    if (!region.ok() || part.number() == 0) return GiveUp(ctx, SnapshotFailed("a part has no region, or no number"));
    RegionNode node;
    node.encoded = region->encoded_name();
    node.info = std::move(*region);
    node.state = RegionState::kClosed;
    taken.push_back(std::move(node));
  }
  if (const auto problems = RangeProblems(Table(), taken, 1); !problems.empty())
    return GiveUp(ctx, SnapshotFailed(problems.front()));
  return GoTo<&Snapshot::Complete>();
}

StepOutcome Snapshot::Complete(StepContext& ctx) {
  hbase::pb::SnapshotDescription description = Description();
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  for (const pb::SnapshotPartData& part : data_.parts()) {
    files += part.files();
    bytes += part.bytes();
  }
  description.set_regions(static_cast<std::uint32_t>(data_.parts_size()));
  description.set_files(files);
  description.set_bytes(bytes);
  auto put = PutForStep(ctx, data_.directory(), kSnapshotComplete, description.SerializeAsString());
  RATCHET_STEP(put.wait);
  if (!put.result->ok()) return Retry{put.result->error(), std::nullopt};
  RATCHET_LOG(kInfo, "pid={} snapshot {} of table {} is complete: {} regions, {} files, {} bytes", ctx.pid(),
              description.name(), Table().ToString(), data_.parts_size(), files, bytes);
  return GoTo<&Snapshot::PostOperation>();
}

StepOutcome Snapshot::PostOperation(StepContext& ctx) {
  EnvOf(ctx).snapshots.Release(ctx.pid());
  return Done{};
}

void Snapshot::OnRecovered(const procedure::EnvRef& env) {
  if (data_.held()) env.As<MasterEnv>().snapshots.Hold(HoldOf());
}

}  // namespace ratchet::master
