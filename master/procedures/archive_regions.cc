#include "master/procedures/archive_regions.h"

#include "master/env/cluster_files.h"
#include "master/state/table_directory.h"

namespace ratchet::master {

std::optional<StepOutcome> ArchiveRegions(StepContext& ctx, const TableName& table,
                                          const std::vector<std::string>& encoded) {
  MasterEnv& env = EnvOf(ctx);
  const auto known = env.tables.Get(table);
  if (!known) return std::nullopt;
  for (const std::string& region : encoded) {
    if (Status owner = ctx.CheckOwner(); !owner.ok()) return Retry{owner.error(), std::nullopt};
    const Status gone = env.files.ArchiveRegion(known->directory, region, ctx.epoch());
    if (!gone.ok()) return Retry{gone.error(), std::nullopt};
  }
  return std::nullopt;
}

}  // namespace ratchet::master
