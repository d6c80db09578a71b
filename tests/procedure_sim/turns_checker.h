// No queue starves: classes are strict, and inside a class equals take turns.
//
// The bound: between two turns of a queue in which a member could run all the time, each other queue of its class gets
// at most one, however many procedures stand in it; and no queue of a lower class gets any. A procedure thus waits for
// no more than (those ahead of it in its own queue + 1) rounds of its class.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "procedure/author/scheduling_class.h"

namespace ratchet::sim {

// Watches one stretch of time in which nothing but steps happens: no commit completes, nothing is asked for. What
// could run at its beginning can run until it does.
class TurnsChecker {
 public:
  // At the beginning, of each: where it stands, whether it may run on the reserved capacity (those go first within
  // their class), and whether it could run.
  void Stands(ProcId who, const procedure::SchedulingPlace& place, bool urgent, bool waits);
  // A step or undo begins. Not empty: it was not its turn.
  [[nodiscard]] std::string OnRun(ProcId who);
  [[nodiscard]] std::size_t queues() const { return waiting_.size(); }

 private:
  struct Queue {
    procedure::Priority priority{};
    bool ordinary = false;  // not urgent
    procedure::ResourceKey key;
    auto operator<=>(const Queue&) const = default;
    [[nodiscard]] auto rank() const { return std::pair(priority, ordinary); }
  };

  std::map<ProcId, Queue> queues_;
  std::map<Queue, std::set<ProcId>> waiting_;
  std::map<Queue, std::set<Queue>> since_;  // which have had a turn since this queue's last one
};

}  // namespace ratchet::sim
