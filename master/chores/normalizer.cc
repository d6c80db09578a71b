#include "master/chores/normalizer.h"

#include <optional>
#include <vector>

#include <fmt/format.h>

#include "common/base/log.h"
#include "master/cluster/region_directory.h"
#include "master/cluster/reshape_switches.h"
#include "master/cluster/switches.h"
#include "master/cluster/table_directory.h"
#include "master/policy/normalizer_plan.h"
#include "master/procedures/core/master_env.h"
#include "master/procedures/crash/server_crash.h"
#include "procedure/api/executor.h"

namespace ratchet::master {
namespace {

// Returns nullopt if a region of the table is in transition, or its size is unknown.
std::optional<std::vector<NormalizedRegion>> SizesOf(const MasterEnv& env, const RegionSizes& sizes,
                                                     const TableName& table) {
  std::vector<NormalizedRegion> regions;
  for (const RegionNode& node : env.regions.OfTable(table)) {
    if (!HasItsRows(node.state)) {
      if (node.owner.valid()) return std::nullopt;
      continue;  // was split or merged
    }
    if (node.owner.valid() || node.state != RegionState::kOpen || !node.location) return std::nullopt;
    const auto bytes = sizes.Of(*node.location, node.encoded);
    if (!bytes) return std::nullopt;
    regions.push_back({node.encoded, *bytes});
  }
  return regions;
}

}  // namespace

bool Normalizer::Run(const RequestContext& context, const std::function<bool(const TableName&)>& wanted) {
  if (!env_.meta_loaded.load() || !env_.switches.IsOn(Switch::kNormalizer) || under_way_.load() > 0) return false;
  if (!env_.executor->FindUnfinished(ServerCrash::kTypeName).empty()) return false;
  auto left = static_cast<std::size_t>(options_.at_once.Get());
  for (const TableNode& table : env_.tables.List()) {
    const bool fits = table.state == TableState::kEnabled && table.schema != nullptr && !table.name.IsSystem();
    if (!fits || !WantsNormalization(*table.schema) || !wanted(table.name)) continue;
    const auto regions = SizesOf(env_, sizes_, table.name);
    if (!regions) continue;
    for (const NormalizerStep& step : PlanNormalization(*table.schema, *regions)) {
      if (left == 0) return true;
      if (!(step.splits() ? AllowsSplits : AllowsMerges)(env_.switches, table).ok()) continue;
      --left;
      Begin(step.regions, context);
    }
  }
  return true;
}

void Normalizer::Begin(const std::vector<std::string>& regions, const RequestContext& context) {
  ++under_way_;
  const std::string what =
      fmt::format("{} {}", regions.size() == 1 ? "the split of" : "the merge of", fmt::join(regions, ", "));
  auto done = [this, what](const Result<ProcId>& pid) {
    if (!pid.ok()) {
      --under_way_;
      RATCHET_LOG(kInfo, "Normalizer: skipping {}: {}", what, pid.error().message());
      return;
    }
    RATCHET_LOG(kInfo, "Normalizer: pid={} is {}", *pid, what);
    env_.executor->OnFinished(*pid, [this](const procedure::ProcedureResult& /*ended*/) { --under_way_; });
  };
  if (regions.size() == 1) return tables_.SplitRegion(regions.front(), {}, context, std::move(done));
  tables_.MergeRegions(regions, context, std::move(done));
}

void Normalizer::Tick() {
  if (options_.period.Get() == Millis{0} || !env_.switches.IsOn(Switch::kNormalizer) || under_way_.load() > 0) return;
  const TimePoint now = env_.clock.Now();
  {
    const MutexLock lock(mutex_);
    if (now < next_) return;
    next_ = now + options_.period.Get();
  }
  (void)Run({"master", {}}, [](const TableName&) { return true; });
}

}  // namespace ratchet::master
