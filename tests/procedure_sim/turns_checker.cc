#include "tests/procedure_sim/turns_checker.h"

#include <fmt/format.h>

namespace ratchet::sim {

void TurnsChecker::Stands(ProcId who, const procedure::SchedulingPlace& place, bool urgent, bool waits) {
  const Queue& queue = queues_[who] = {place.priority, !urgent, place.queue};
  if (waits) waiting_[queue].insert(who);
}

std::string TurnsChecker::OnRun(ProcId who) {
  const auto known = queues_.find(who);
  if (known == queues_.end()) return fmt::format("starvation: pid {} comes from nowhere", who);
  const Queue& mine = known->second;
  for (const auto& [queue, pids] : waiting_) {
    if (queue == mine) continue;
    if (queue.rank() < mine.rank()) {
      return fmt::format("class: pid {} of {} runs while pid {} of {}, of a higher class, waits", who,
                         mine.key.ToString(), *pids.begin(), queue.key.ToString());
    }
    if (queue.rank() == mine.rank() && !since_[queue].insert(mine).second) {
      return fmt::format("starvation: {} has a second turn (pid {}) while pid {} of {} waits", mine.key.ToString(), who,
                         *pids.begin(), queue.key.ToString());
    }
  }
  const auto found = waiting_.find(mine);
  if (found == waiting_.end()) return {};
  since_.erase(mine);
  found->second.erase(who);
  if (found->second.empty()) waiting_.erase(found);
  return {};
}

}  // namespace ratchet::sim
