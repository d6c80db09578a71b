#include "master/procedures/snapshot/clone_snapshot.h"

#include <memory>
#include <utility>

#include "master/cluster/errors.h"
#include "master/env/cluster_files.h"

namespace ratchet::master {

ProcedurePtr CloneSnapshot::Make(const TableName& table, const CompleteSnapshot& snapshot, const std::string& owner,
                                 bool restores_rights) {
  pb::TableData data = NewCopyData(table, snapshot, restores_rights);
  if (!owner.empty()) data.set_owner(owner);
  return std::make_unique<CloneSnapshot>(std::move(data));
}

StepOutcome CloneSnapshot::PreOperation(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  if (env.tables.Exists(TableOf(data_))) return Fail{TableExists(TableOf(data_))};
  RATCHET_STEP(RequireNoOtherCreation(ctx, data_));
  if (!env.namespaces.Exists(TableOf(data_).ns)) return Fail{NamespaceNotFound(TableOf(data_).ns)};
  if (Status owner = CheckOwner(env, data_); !owner.ok()) return Fail{IllegalRequest(owner.error().message())};
  RATCHET_STEP(ReadSnapshot(ctx, data_));
  if (Status room = env.namespaces.Take(ctx.pid(), Claimed()); !room.ok()) return Fail{room.error()};
  data_.set_directory(TableDirectoryName(TableOf(data_), ctx.pid()));
  RecordLockGrant(env, data_, ctx.pid(), std::nullopt);
  return GoTo<&CloneSnapshot::MakeLayout>();
}

NamespaceDirectory::Claim CloneSnapshot::Claimed() const {
  return {TableOf(data_), /*makes_table=*/true, static_cast<std::size_t>(data_.copied_size())};
}

void CloneSnapshot::OnRecovered(const procedure::EnvRef& env) {
  NewTableProcedure::OnRecovered(env);
  if (!data_.directory().empty()) env.As<MasterEnv>().namespaces.Restore(pid(), Claimed());
}

}  // namespace ratchet::master
