// What FlushTable and CompactTable share: one order to the server of each region of a table, a few hundred at a time,
// until each region has been dealt with.
//
// `Data` keeps, durably: `left` (encoded names not dealt with yet), `asked` (those of the children that run now, in
// their order), `total`, `begun`. Neither procedure holds a lock (S43). Threads: workers, within a step.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/mutant.h"
#include "master/procedures/common.h"
#include "master/state/errors.h"
#include "master/state/region_directory.h"
#include "master/state/server_directory.h"
#include "master/state/table_directory.h"

namespace ratchet::master {

// Children at a time: bounds memory, and the progress that is shown moves with each batch.
inline constexpr std::size_t kMostRegionsAsked = 256;

// The regions that the table has now are the ones to deal with: what splits and merges make of them later is not.
template <class Data>
void BeginSweep(const MasterEnv& env, const TableName& table, Data& data) {
  for (RegionNode& node : env.regions.OfTable(table)) data.add_left(std::move(node.encoded));
  data.set_total(static_cast<std::uint32_t>(data.left_size()));
  data.set_begun(true);
}

template <class Data>
std::optional<procedure::PartsLeft> PartsOfSweep(const Data& data) {
  if (!data.begun()) return std::nullopt;
  return procedure::PartsLeft{static_cast<std::uint64_t>(data.left_size() + data.asked_size()), data.total()};
}

struct RegionSweep {
  std::vector<ProcedurePtr> orders;  // one for each of `asked`
  std::string waits_for;             // a region of `left` that cannot be asked for now
};

// Moves regions that are open from `left` to `asked`, with `make(region node)`. A region that is at rest and not open
// is passed over, as is one that is gone; one in transition stays in `left`.
template <class Data, class Make>
RegionSweep AskOpenRegions(const MasterEnv& env, Data& data, Make make) {
  const std::vector<std::string> left(data.left().begin(), data.left().end());
  data.clear_left();
  data.clear_asked();
  RegionSweep sweep;
  for (const std::string& region : left) {
    const auto node = env.regions.Get(region);
    if (!node) continue;
    const bool open = node->state == RegionState::kOpen && node->location && env.servers.IsOnline(*node->location);
    if (!node->owner.valid() && open && sweep.orders.size() < kMostRegionsAsked) {
      sweep.orders.push_back(make(*node));
      data.add_asked(region);
    } else if (node->owner.valid() || node->state == RegionState::kOpen || !IsAtRest(node->state)) {
      sweep.waits_for = fmt::format("region {} is {}", node->encoded, RegionStateText(node->state));
      data.add_left(region);
    }
  }
  return sweep;
}

// The outcome of a step that found no region to ask for: it is tried again, or nothing is left.
template <class Data>
StepOutcome NothingAsked(StepContext& ctx, const RegionSweep& sweep, const Data& data) {
  if (data.left_size() == 0) return Done{};
  return Retry{Error(Code::kUnavailable, fmt::format("{} regions left; {}", data.left_size(), sweep.waits_for)),
               BackoffDelay(EnvOf(ctx).options.retry, ctx.attempt(), ctx.prng())};
}

// Takes the children's answers. A region whose order failed, or whose child an operator ended, is left again: it is
// asked for after a pause, at the server that has it by then. `undone`: "is not flushed". Nothing: regions are left to
// ask for.
template <class Data>
std::optional<StepOutcome> ConfirmSweep(StepContext& ctx, std::string_view undone, Data& data) {
  std::string refused;
  std::vector<std::string> failed;
  for (int i = 0; i < data.asked_size(); ++i) {
    pb::OrderResult result;  // without an outcome when an operator ended the child
    if (static_cast<std::size_t>(i) < ctx.children().size())
      (void)result.ParseFromString(ctx.children()[static_cast<std::size_t>(i)].result);
    if (result.outcome() == pb::DONE || RATCHET_MUTANT("master.any_answer_will_do")) continue;
    failed.push_back(data.asked(i));
    refused = fmt::format("region {} {}: {}", data.asked(i), undone, result.error_message());
  }
  if (!refused.empty() && ctx.attempt() == 1)
    return Retry{Error(Code::kUnavailable, refused), BackoffDelay(EnvOf(ctx).options.retry, 2, ctx.prng())};
  for (std::string& region : failed) data.add_left(std::move(region));
  data.clear_asked();
  if (data.left_size() == 0) return Done{};
  return std::nullopt;
}

}  // namespace ratchet::master
