#include "master/procedures/table/reopen_table_regions.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "master/cluster/region_directory.h"
#include "master/cluster/table_directory.h"
#include "master/procedures/core/master_options.h"
#include "master/procedures/core/region_plan.h"

namespace ratchet::master {

ProcedurePtr ReopenTableRegions::Make(const TableName& table, const std::string& directory, std::uint64_t number) {
  pb::ReopenTableRegionsData data;
  data.set_ns(table.ns);
  data.set_qualifier(table.qualifier);
  data.set_directory(directory);
  data.set_number(number);
  data.set_batch(1);
  return std::make_unique<ReopenTableRegions>(std::move(data));
}

std::optional<procedure::PartsLeft> ReopenTableRegions::Parts() const {
  if (!data_.has_total()) return std::nullopt;
  return procedure::PartsLeft{data_.left(), data_.total()};
}

Claims ReopenTableRegions::Uses() const {
  Claims claims;
  claims.altered = Table();
  return claims;
}

procedure::Description ReopenTableRegions::Describe() const {
  procedure::Description about;
  about.Add("table", Table().ToString()).Add("descriptor", data_.number());
  AddRegionsLeft(about, Parts());
  if (data_.regions_size() > 0) about.Note(fmt::format("a batch of {} in progress", data_.regions_size()));
  return about;
}

bool ReopenTableRegions::IsDone(const RegionNode& node, std::uint64_t number) {
  if (IsSplitOrMerged(node.state)) return true;
  if (node.owner.valid()) return false;  // in transition: the answer to its order will name its descriptor
  switch (node.state) {
    case RegionState::kOpen: return !IsOpenBelow(node, number);
    case RegionState::kClosed:
    case RegionState::kOffline: return true;  // a later open uses the newest descriptor
    default: return false;                    // its server has died: a crash procedure will open it
  }
}

StepOutcome ReopenTableRegions::GetRegions(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  const auto table = env.tables.Get(Table());
  if (!table || table->directory != data_.directory()) return Done{"nothing to do: the table was deleted"};
  std::uint32_t total = 0;
  std::uint32_t left = 0;
  std::string waits_for;
  data_.clear_regions();
  for (const RegionNode& node : env.regions.OfTable(Table())) {
    ++total;
    if (IsDone(node, data_.number())) continue;
    ++left;
    if (node.owner.valid() || !IsOpenBelow(node, data_.number())) {
      if (waits_for.empty())
        waits_for = node.owner.valid() ? fmt::format("region {} is in transition by pid={}", node.encoded, node.owner)
                                       : fmt::format("region {} is {}", node.encoded, RegionStateText(node.state));
    } else if (static_cast<std::uint32_t>(data_.regions_size()) < data_.batch()) {
      *data_.add_regions() = ToData(node.info);
    }
  }
  data_.set_total(total);
  data_.set_left(left);
  if (left == 0) return Done{};
  if (data_.regions_size() > 0) return GoTo<&ReopenTableRegions::ReopenRegions>();
  return Retry{Error(Code::kUnavailable, fmt::format("{} of {} regions left; {}", left, total, waits_for)),
               BackoffDelay(env.options.retry, ctx.attempt(), ctx.prng())};
}

StepOutcome ReopenTableRegions::ReopenRegions(StepContext& /*ctx*/) {
  std::vector<ProcedurePtr> reopenings;
  for (const pb::Region& region : data_.regions()) {
    reopenings.push_back(TransitRegionState::ReopenBelow(FromData(region), data_.number()));
  }
  return SpawnThen<&ReopenTableRegions::ConfirmReopened>(std::move(reopenings));
}

StepOutcome ReopenTableRegions::ConfirmReopened(StepContext& ctx) {
  data_.clear_regions();
  data_.set_batch(std::min(data_.batch() * 2, EnvOf(ctx).options.reopen_batch_most));
  return GoTo<&ReopenTableRegions::GetRegions>();
}

}  // namespace ratchet::master
