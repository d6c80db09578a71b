// Events that procedures wait for, and the tickets that make it impossible to lose a wake-up.
//
// Rule for steps: take the ticket FIRST, then look (or send), then return Await with the ticket. A wake-up that arrives
// at any time after the ticket was taken makes the Await return at once. Events live in memory only: after a restart
// every waiting step runs again and looks again.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace ratchet::procedure {

// Names something that may happen, e.g. {"region-report:56f9a1..."}; equal names are the same event.
// Executor::Wake(key) wakes all procedures that wait for the event. A wake-up without a waiter is cheap and is not
// remembered.
struct EventKey {
  std::string name;
  auto operator<=>(const EventKey&) const = default;
};

// Proof that its holder will not miss a wake-up of `key` that happens after the ticket was taken. Valid for the step
// run that took it; returning Await spends it.
struct WaitTicket {
  EventKey key;
  std::uint64_t taken_at = 0;  // position in the wait table's sequence of wake-ups
};

}  // namespace ratchet::procedure

template <>
struct std::hash<ratchet::procedure::EventKey> {
  std::size_t operator()(const ratchet::procedure::EventKey& key) const noexcept {
    return std::hash<std::string>{}(key.name);
  }
};
