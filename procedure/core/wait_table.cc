#include "procedure/core/wait_table.h"

#include <algorithm>

#include "common/base/check.h"
#include "common/base/mutant.h"

namespace ratchet::procedure {

WaitTicket WaitTable::Take(const EventKey& key) {
  ++events_[key].tickets;
  return {key, sequence_};
}

void WaitTable::Drop(const WaitTicket& ticket) {
  const auto found = events_.find(ticket.key);
  RATCHET_CHECK(found != events_.end() && found->second.tickets > 0, "ticket for '{}' ended twice", ticket.key.name);
  --found->second.tickets;
  ForgetIfIdle(ticket.key);
}

bool WaitTable::Wait(ProcId who, const WaitTicket& ticket) {
  const auto found = events_.find(ticket.key);
  RATCHET_CHECK(found != events_.end() && found->second.tickets > 0, "ticket for '{}' ended twice", ticket.key.name);
  --found->second.tickets;
  if (found->second.last_wake > ticket.taken_at && !RATCHET_MUTANT("procedure.ignore_ticket")) {
    ForgetIfIdle(ticket.key);
    return false;
  }
  found->second.waiters.push_back(who);
  RATCHET_CHECK(waiting_.emplace(who, ticket.key).second, "pid {} waits twice", who);
  return true;
}

std::string WaitTable::EventOf(ProcId who) const {
  const auto found = waiting_.find(who);
  return found == waiting_.end() ? std::string() : found->second.name;
}

void WaitTable::Leave(ProcId who) {
  const auto found = waiting_.find(who);
  if (found == waiting_.end()) return;
  const EventKey key = std::move(found->second);
  waiting_.erase(found);
  std::erase(events_.at(key).waiters, who);
  ForgetIfIdle(key);
}

void WaitTable::Wake(const EventKey& key, std::vector<ProcId>& woken) {
  ++sequence_;
  const auto found = events_.find(key);
  if (found == events_.end()) return;
  found->second.last_wake = sequence_;
  for (const ProcId who : found->second.waiters) {
    woken.push_back(who);
    waiting_.erase(who);
  }
  found->second.waiters.clear();
  ForgetIfIdle(key);
}

void WaitTable::ForgetIfIdle(const EventKey& key) {
  const auto found = events_.find(key);
  if (found != events_.end() && found->second.tickets == 0 && found->second.waiters.empty()) events_.erase(found);
}

}  // namespace ratchet::procedure
