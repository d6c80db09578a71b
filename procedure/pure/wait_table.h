// Waiters and their events; tickets make it impossible to lose a wake-up. Pure; the executor's session guards it.
//
// An event exists here only while a procedure has a ticket for it or waits, so waking without a waiter costs a
// lookup.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "common/base/strong_id.h"
#include "procedure/author/event.h"

namespace ratchet::procedure {

class WaitTable {
 public:
  // The holder must end every ticket with Park or Drop.
  [[nodiscard]] WaitTicket Take(const EventKey& key);
  void Drop(const WaitTicket& ticket);

  // Spends the ticket. False: the event was woken since it was taken, do not wait. One wait per procedure.
  [[nodiscard]] bool Wait(ProcId who, const WaitTicket& ticket);
  // Ends a wait early (time-out, report, operator).
  void Leave(ProcId who);

  // Appends all that waited, in the order in which they came.
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
