#include "master/procedures/admin/init_meta.h"

#include "master/cluster/table_directory.h"
#include "master/procedures/core/act_on_files.h"

namespace ratchet::master {

procedure::LockSet InitMeta::Locks() const { return {procedure::Exclusive(procedure::ResourceKey::Meta())}; }

// Meta's directory is the only name without the creator's pid: a cluster has one meta in its life, and writing its
// layout twice is harmless.
StepOutcome InitMeta::WriteFsLayout(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  const TableNode meta = *env.tables.Get(MetaTableName());
  const auto make = [meta](ClusterFiles& files) {
    return files.CreateTableLayout(meta.directory, ProcId(1), *meta.schema, {std::string(kMetaEncodedName)});
  };
  RATCHET_STEP(ActUntilDone(ctx, "making data/" + meta.directory, make));
  const auto keep = [meta](ClusterFiles& files) {
    return files.MarkKept(meta.directory, ProcId(1));
  };  // S115 (missing row is not evidence)
  RATCHET_STEP(ActUntilDone(ctx, "marking that hbase:meta stays", keep));
  return GoTo<&InitMeta::AssignMeta>();
}

StepOutcome InitMeta::AssignMeta(StepContext&) {
  return SpawnThen<&InitMeta::Finish>(TransitRegionState::Assign(MetaRegionInfo(), {}));
}

StepOutcome InitMeta::Finish(StepContext&) { return Done{}; }

}  // namespace ratchet::master
