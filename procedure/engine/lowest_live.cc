#include "procedure/engine/lowest_live.h"

#include <algorithm>

#include "common/base/mutant.h"

namespace ratchet::procedure {
namespace {

ProcId NextUsed(const CoreState& state, ProcId pid) {
  if (pid.Next() >= state.first_new_pid) return pid.Next();
  const auto next = std::upper_bound(state.loaded_pids.begin(), state.loaded_pids.end(), pid);
  return next == state.loaded_pids.end() ? state.first_new_pid : *next;
}

}  // namespace

ProcId LowestLive(ExecutorLock& held) {
  CoreState& state = held.state();
  ProcId& lowest = state.lowest_live;
  while (lowest <= state.max_pid) {
    const ProcNode* node = state.tree.Find(lowest);
    if (node != nullptr && !IsTerminal(node->durable.state)) break;
    if (state.inserting.contains(lowest) && !RATCHET_MUTANT("procedure.floor_passes_inserts")) break;
    lowest = NextUsed(state, lowest);
  }
  return lowest;
}

}  // namespace ratchet::procedure
