// What an operator has paused or parked does not act until it is let go again.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "procedure/author/procedure.h"
#include "procedure/pure/pause_scope.h"

namespace ratchet::sim {

// Holds are durable: they outlive masters. A hold counts from its answer on; from the moment at which it is asked to
// take it back it may be over. Single-threaded.
class HoldChecker {
 public:
  // To be taken before a hold is asked for: should anything be let go before its answer, it does not count.
  [[nodiscard]] std::uint64_t Ticket() const { return let_go_; }
  void Paused(std::uint64_t ticket, const procedure::PauseScope& scope);
  void Parked(std::uint64_t ticket, ProcId pid, ProcId root);
  void Resuming(const procedure::PauseScope& scope);
  // Of the whole tree, since a bypass ends ancestors too.
  void LettingGo(ProcId root);

  // A step ('s') or an undo ('u') begins. Not empty: it must not. `urgent`: whether `by` or an ancestor is.
  [[nodiscard]] std::string OnBegin(char sign, const procedure::Procedure& by,
                                    const std::function<bool()>& urgent) const;

 private:
  std::uint64_t let_go_ = 0;
  std::vector<procedure::PauseScope> paused_;
  std::map<ProcId, ProcId> parked_;  // pid -> root
};

}  // namespace ratchet::sim
