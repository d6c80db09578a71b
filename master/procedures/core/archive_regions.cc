#include "master/procedures/core/archive_regions.h"

#include <fmt/format.h>

#include "master/cluster/table_directory.h"
#include "master/procedures/core/act_on_files.h"

namespace ratchet::master {

std::optional<StepOutcome> ArchiveRegions(StepContext& ctx, const TableName& table,
                                          const std::vector<std::string>& encoded) {
  const auto known = EnvOf(ctx).tables.Get(table);
  if (!known) return std::nullopt;
  for (const std::string& region : encoded) {
    const auto archive = [directory = known->directory, region, epoch = ctx.epoch()](ClusterFiles& files) {
      return files.ArchiveRegion(directory, region, epoch);
    };
    const std::string what = fmt::format("moving data/{}/{} to the archive", known->directory, region);
    RATCHET_STEP(ActUntilDone(ctx, what, archive));
  }
  return std::nullopt;
}

}  // namespace ratchet::master
