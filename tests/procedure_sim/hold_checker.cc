#include "tests/procedure_sim/hold_checker.h"

#include <algorithm>

#include <fmt/format.h>

namespace ratchet::sim {

using procedure::LockRequest;
using procedure::PauseScope;

namespace {

bool Covers(const PauseScope& scope, const procedure::Procedure& by, const std::function<bool()>& urgent) {
  switch (scope.kind) {
    case PauseScope::Kind::kEverything: return true;
    case PauseScope::Kind::kOrdinary: return !urgent();
    case PauseScope::Kind::kType: return by.type_name() == scope.type;
    case PauseScope::Kind::kResource: {
      const std::vector<LockRequest> locks = by.Locks().Expanded();
      return std::any_of(locks.begin(), locks.end(),
                         [&](const LockRequest& lock) { return lock.key == scope.resource; });
    }
    // Includes its children; of the ancestors above the parent only the root is known.
    case PauseScope::Kind::kProcedure:
      return by.pid() == scope.pid || by.parent_pid() == scope.pid || by.root_pid() == scope.pid;
  }
  return false;
}

}  // namespace

void HoldChecker::Paused(std::uint64_t ticket, const PauseScope& scope) {
  if (ticket == let_go_) paused_.push_back(scope);
}

void HoldChecker::Parked(std::uint64_t ticket, ProcId pid, ProcId root) {
  if (ticket == let_go_) parked_[pid] = root;
}

void HoldChecker::Resuming(const PauseScope& scope) {
  ++let_go_;
  std::erase(paused_, scope);
}

void HoldChecker::LettingGo(ProcId root) {
  ++let_go_;
  std::erase_if(parked_, [root](const auto& entry) { return entry.second == root; });
}

std::string HoldChecker::OnBegin(char sign, const procedure::Procedure& by, const std::function<bool()>& urgent) const {
  for (const PauseScope& scope : paused_) {
    if (!Covers(scope, by, urgent)) continue;
    return fmt::format("pause: pid {} begins a {}, but {} is paused", by.pid(), sign == 's' ? "step" : "undo",
                       scope.ToString());
  }
  if (parked_.contains(by.pid())) {
    return fmt::format("park: pid {} begins a {}, but is parked", by.pid(), sign == 's' ? "step" : "undo");
  }
  return {};
}

}  // namespace ratchet::sim
