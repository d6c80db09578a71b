// Shared by FlushTable and CompactTable: one order to the server of each region of a table, a few hundred at a time,
// until each region is done.
//
// `Data` keeps, durably: `left` (encoded names that are not done), `asked` (regions of the running children, in their
// order), `total`, `begun`. Neither procedure holds a lock (S43: no locks while regions may wait). Threads: workers,
// within a step.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/mutant.h"
#include "master/cluster/errors.h"
#include "master/cluster/membership.h"
#include "master/cluster/region_directory.h"
#include "master/cluster/table_directory.h"
#include "master/procedures/core/common.h"
#include "master/procedures/core/master_options.h"
#include "master/procedures/core/remote_order.h"

namespace ratchet::master {

// Maximum number of children at a time: bounds memory. The displayed progress changes with each batch.
inline constexpr std::size_t kMostRegionsAsked = 256;
// Longest pause between two rounds without progress: a damaged file stays damaged until an operator acts.
inline constexpr Millis kLongestSweepPause{30'000};

// Sets the data's list "left" to the current regions of the table; regions that splits and merges create later are
// ignored.
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
  std::string waits_for;             // a region of `left` that cannot get an order now
};

// Moves regions that are open from the data's list "left" to its list "asked", and makes a child for each with
// `make(region node)`. Skips a region that is gone, or that is not open and not in transition. A region in transition
// stays in "left".
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

// Outcome of a step that had no region to order: a retry, or the end if nothing is left.
template <class Data>
StepOutcome NothingAsked(StepContext& ctx, const RegionSweep& sweep, const Data& data) {
  if (data.left_size() == 0) return Done{};
  return Retry{Error(Code::kUnavailable, fmt::format("{} regions left; {}", data.left_size(), sweep.waits_for)),
               BackoffDelay(EnvOf(ctx).options.retry, ctx.attempt(), ctx.prng())};
}

// Processes the children's results. A region whose order failed, or whose child an operator ended, returns to "left"
// and gets another order after a pause, at the server that has it then. The pause grows with each round without
// progress. The number of these rounds is durable, because a step's attempts start at 1 in each round. `undone`: text
// such as "is not flushed". Returns nullopt if the sweep must continue.
template <class Data>
std::optional<StepOutcome> ConfirmSweep(StepContext& ctx, std::string_view undone, Data& data) {
  std::string refused;
  std::vector<std::string> failed;
  for (int i = 0; i < data.asked_size(); ++i) {
    pb::OrderResult result;  // without an outcome if an operator ended the child
    if (static_cast<std::size_t>(i) < ctx.children().size())
      result = ReadOrderResult(ctx.children()[static_cast<std::size_t>(i)].result);
    if (result.outcome() == pb::DONE || RATCHET_MUTANT("master.any_answer_will_do")) continue;
    failed.push_back(data.asked(i));
    refused = fmt::format("region {} {}: {}", data.asked(i), undone, result.error_message());
  }
  const bool progress = failed.size() < static_cast<std::size_t>(data.asked_size());
  const std::uint32_t rounds = refused.empty() ? 0 : progress ? 1 : data.failed_rounds() + 1;
  if (!refused.empty() && ctx.attempt() == 1) {
    auto retry = EnvOf(ctx).options.retry;
    retry.cap = std::max(retry.cap, kLongestSweepPause);
    return Retry{Error(Code::kUnavailable, refused), BackoffDelay(retry, rounds + 1, ctx.prng())};
  }
  data.set_failed_rounds(rounds);
  data.set_last_refusal(refused);
  for (std::string& region : failed) data.add_left(std::move(region));
  data.clear_asked();
  if (data.left_size() == 0) return Done{};
  return std::nullopt;
}

}  // namespace ratchet::master
