// Checks that paused and parked procedures do not act until an operator releases them.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "procedure/api/pause_scope.h"
#include "procedure/api/procedure.h"

namespace ratchet::sim {

// Holds are durable: they outlive masters. A hold applies from its answer on, and may end from the moment its release
// is requested. Single-threaded.
class HoldChecker {
 public:
  // Take it before a hold is requested: if a hold is released before the answer, the request is not checked.
  [[nodiscard]] std::uint64_t Ticket() const { return let_go_; }
  void Paused(std::uint64_t ticket, const procedure::PauseScope& scope);
  void Parked(std::uint64_t ticket, ProcId pid, ProcId root);
  void Resuming(const procedure::PauseScope& scope);
  // Releases the whole tree, because a bypass also ends ancestors.
  void LettingGo(ProcId root);

  // A step ('s') or an undo ('u') begins. Returns a violation, or empty. `urgent`: true if `by` or an ancestor is
  // urgent.
  [[nodiscard]] std::string OnBegin(char sign, const procedure::Procedure& by,
                                    const std::function<bool()>& urgent) const;

 private:
  std::uint64_t let_go_ = 0;
  std::vector<procedure::PauseScope> paused_;
  std::map<ProcId, ProcId> parked_;  // pid -> root
};

}  // namespace ratchet::sim
