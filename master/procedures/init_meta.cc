#include "master/procedures/init_meta.h"

#include "master/env/cluster_files.h"
#include "master/procedures/transit_region_state.h"
#include "master/state/table_directory.h"

namespace ratchet::master {

procedure::LockSet InitMeta::Locks() const { return {procedure::Exclusive(procedure::ResourceKey::Meta())}; }

// Meta's directory is the one name that does not carry the creator's pid: there is one meta in the life of a cluster,
// and writing its layout twice is harmless.
StepOutcome InitMeta::WriteFsLayout(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  const TableNode meta = *env.tables.Get(MetaTableName());
  if (Status owner = ctx.CheckOwner(); !owner.ok()) return Retry{owner.error(), std::nullopt};
  Status made = env.files.CreateTableLayout(meta.directory, ProcId(1), *meta.schema, {std::string(kMetaEncodedName)});
  if (!made.ok()) return Retry{made.error(), std::nullopt};
  return GoTo(State::kAssignMeta);
}

StepOutcome InitMeta::AssignMeta(StepContext&) {
  return SpawnThen(State::kFinish, TransitRegionState::Assign(MetaRegionInfo(), {}));
}

StepOutcome InitMeta::Finish(StepContext&) { return Done{}; }

}  // namespace ratchet::master
