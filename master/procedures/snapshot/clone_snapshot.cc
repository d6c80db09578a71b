#include "master/procedures/snapshot/clone_snapshot.h"

#include <memory>
#include <utility>

#include "master/cluster/errors.h"
#include "master/env/cluster_files.h"
#include "master/procedures/snapshot/snapshot_copy.h"
#include "master/procedures/table/new_table.h"

namespace ratchet::master {

ProcedurePtr CloneSnapshot::Make(const TableName& table, const std::string& snapshot) {
  return std::make_unique<CloneSnapshot>(NewCopyData(table, snapshot));
}

procedure::Description CloneSnapshot::Describe() const { return DescribeCopy(data_); }

StepOutcome CloneSnapshot::PreOperation(StepContext& ctx) {
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  MasterEnv& env = EnvOf(ctx);
  if (env.tables.Exists(TableOf(data_))) return Fail{TableExists(TableOf(data_))};
  if (!env.namespaces.Exists(TableOf(data_).ns)) return Fail{NamespaceNotFound(TableOf(data_).ns)};
  if (auto outcome = ReadSnapshot(ctx, data_)) return std::move(*outcome);
  if (Status room = env.namespaces.Take(*env.executor, ctx.pid(), Claimed()); !room.ok()) return Fail{room.error()};
  data_.set_directory(TableDirectoryName(TableOf(data_), ctx.pid()));
  RecordLockGrant(env, data_, ctx.pid(), std::nullopt);
  return GoTo(State::kWriteFsLayout);
}

StepOutcome CloneSnapshot::WriteFsLayout(StepContext& ctx) {
  if (auto outcome = MakeNewLayout(ctx, data_)) return std::move(*outcome);
  return GoTo(State::kCopyRegions);
}

Status CloneSnapshot::ArchiveLayout(StepContext& ctx) { return ArchiveNewLayout(ctx, data_); }

StepOutcome CloneSnapshot::CopyRegions(StepContext& ctx) {
  std::vector<ProcedurePtr> orders;
  if (auto outcome = OrderCopies(ctx, data_, orders)) return std::move(*outcome);
  if (orders.empty()) return GoTo(State::kAddToMeta);
  return SpawnThen(State::kConfirmRegions, std::move(orders));
}

StepOutcome CloneSnapshot::ConfirmRegions(StepContext& ctx) {
  if (auto outcome = ReadCopyResults(ctx, data_)) return std::move(*outcome);
  return GoTo(State::kCopyRegions);
}

StepOutcome CloneSnapshot::AddToMeta(StepContext& ctx) {
  if (auto outcome = AddNewTable(ctx, data_)) return std::move(*outcome);
  return GoTo(State::kAssignRegions);
}

Status CloneSnapshot::RemoveFromMeta(StepContext& ctx) { return RemoveNewTable(ctx, data_); }

StepOutcome CloneSnapshot::AssignRegions(StepContext& ctx) {
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  return SpawnThen(State::kEnable, AssignNewRegions(data_, ctx.pid()));
}

StepOutcome CloneSnapshot::Enable(StepContext& ctx) {
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  if (TakenOver(EnvOf(ctx), data_, ctx.pid())) return GoTo(State::kPostOperation);
  if (auto outcome = SetTableState(ctx, data_, TableState::kEnabled, 2)) return std::move(*outcome);
  return GoTo(State::kPostOperation);
}

StepOutcome CloneSnapshot::PostOperation(StepContext& ctx) {
  if (auto wait = RequireMetaLoaded(ctx)) return std::move(*wait);
  return Done{TakenOver(EnvOf(ctx), data_, ctx.pid()).value_or("")};
}

NamespaceDirectory::Claim CloneSnapshot::Claimed() const {
  return {TableOf(data_), /*makes_table=*/true, static_cast<std::size_t>(data_.copied_size())};
}

void CloneSnapshot::OnRecovered(const procedure::EnvRef& env) {
  RestoreLockGrant(env.As<MasterEnv>(), data_, pid());
  if (!data_.directory().empty()) env.As<MasterEnv>().namespaces.Restore(pid(), Claimed());
}

}  // namespace ratchet::master
