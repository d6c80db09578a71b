// Checks that no queue starves: classes are strict, and queues of a class take turns.
//
// The bound: between two turns of a continuously runnable queue, each other queue of its class gets at most one turn,
// for any number of procedures in it, and no queue of a lower class gets one. So a procedure waits for at most (number
// of procedures ahead in its own queue + 1) rounds of its class.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "procedure/api/scheduling_class.h"

namespace ratchet::sim {

// Checks one period in which only steps run: no commit completes, and no request arrives. A procedure that is runnable
// at the start stays runnable until it runs.
class TurnsChecker {
 public:
  // Call at the start for each procedure: its place, whether it may use the reserved capacity (such procedures precede
  // others of their class), and whether it is runnable.
  void Stands(ProcId who, const procedure::SchedulingPlace& place, bool urgent, bool waits);
  // A step or undo begins. Returns a violation if it was not its turn; otherwise empty.
  [[nodiscard]] std::string OnRun(ProcId who);
  [[nodiscard]] std::size_t queues() const { return waiting_.size(); }

 private:
  struct Queue {
    procedure::Priority priority{};
    bool ordinary = false;  // true if not urgent
    procedure::ResourceKey key;
    auto operator<=>(const Queue&) const = default;
    [[nodiscard]] auto rank() const { return std::pair(priority, ordinary); }
  };

  std::map<ProcId, Queue> queues_;
  std::map<Queue, std::set<ProcId>> waiting_;
  std::map<Queue, std::set<Queue>> since_;  // queues with a turn since this queue's last turn
};

}  // namespace ratchet::sim
