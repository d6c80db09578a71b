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

std::string CloneSnapshot::Describe() const { return DescribeCopy(data_); }

StepOutcome CloneSnapshot::PreOperation(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  if (env.tables.Exists(TableOf(data_))) return Fail{TableExists(TableOf(data_))};
  if (!env.namespaces.Exists(TableOf(data_).ns)) return Fail{NamespaceNotFound(TableOf(data_).ns)};
  RATCHET_STEP(ReadSnapshot(ctx, data_));
  if (Status room = env.namespaces.Take(*env.executor, ctx.pid(), Claimed()); !room.ok()) return Fail{room.error()};
  data_.set_directory(TableDirectoryName(TableOf(data_), ctx.pid()));
  RecordLockGrant(env, data_, ctx.pid(), std::nullopt);
  return GoTo<&CloneSnapshot::WriteFsLayout>();
}

StepOutcome CloneSnapshot::WriteFsLayout(StepContext& ctx) {
  RATCHET_STEP(MakeNewLayout(ctx, data_));
  return GoTo<&CloneSnapshot::CopyRegions>();
}

Status CloneSnapshot::ArchiveLayout(StepContext& ctx) { return ArchiveNewLayout(ctx, data_); }

StepOutcome CloneSnapshot::CopyRegions(StepContext& ctx) {
  std::vector<ProcedurePtr> orders;
  RATCHET_STEP(OrderCopies(ctx, data_, orders));
  if (orders.empty()) return GoTo<&CloneSnapshot::AddToMeta>();
  return SpawnThen<&CloneSnapshot::ConfirmRegions>(std::move(orders));
}

StepOutcome CloneSnapshot::ConfirmRegions(StepContext& ctx) {
  RATCHET_STEP(ReadCopyResults(ctx, data_));
  return GoTo<&CloneSnapshot::CopyRegions>();
}

StepOutcome CloneSnapshot::AddToMeta(StepContext& ctx) {
  RATCHET_STEP(AddNewTable(ctx, data_));
  return GoTo<&CloneSnapshot::AssignRegions>();
}

Status CloneSnapshot::RemoveFromMeta(StepContext& ctx) { return RemoveNewTable(ctx, data_); }

StepOutcome CloneSnapshot::AssignRegions(StepContext& ctx) {
  return SpawnThen<&CloneSnapshot::Enable>(AssignNewRegions(data_, ctx.pid()));
}

StepOutcome CloneSnapshot::Enable(StepContext& ctx) {
  if (TakenOver(EnvOf(ctx), data_, ctx.pid())) return GoTo<&CloneSnapshot::PostOperation>();
  RATCHET_STEP(SetTableState(ctx, data_, TableState::kEnabled, 2));
  return GoTo<&CloneSnapshot::PostOperation>();
}

StepOutcome CloneSnapshot::PostOperation(StepContext& ctx) {
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
