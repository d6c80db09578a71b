// Waiters and their events; tickets make it impossible to lose a wake-up. Pure; the executor's lock guards it.
//
// An event exists here only while a procedure has a ticket for it or waits, so waking without a waiter costs a
// lookup.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/base/strong_id.h"
#include "procedure/api/event.h"

namespace ratchet::procedure {

class WaitTable {
 public:
  // The holder must end every ticket with Wait or Drop.
  [[nodiscard]] WaitTicket Take(const EventKey& key);
  void Drop(const WaitTicket& ticket);

  // Spends the ticket. Returns false if the event was woken since the ticket was taken; then the caller must not wait.
  // One wait per procedure.
  [[nodiscard]] bool Wait(ProcId who, const WaitTicket& ticket);
  // The event for which it waits; empty: none.
  [[nodiscard]] std::string EventOf(ProcId who) const;
  // Ends a wait early (time-out, report, operator).
  void Leave(ProcId who);

  // Appends all procedures that waited, in the order in which they came.
  void Wake(const EventKey& key, std::vector<ProcId>& woken);

  [[nodiscard]] std::size_t size() const { return events_.size(); }

 private:
  struct Event {
    std::uint32_t tickets = 0;
    std::uint64_t last_wake = 0;
    std::vector<ProcId> waiters;
  };
  void ForgetIfIdle(const EventKey& key);

  std::unordered_map<EventKey, Event> events_;
  std::unordered_map<ProcId, EventKey> waiting_;
  std::uint64_t sequence_ = 0;
};

}  // namespace ratchet::procedure
