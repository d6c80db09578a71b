// Maps client nonces to procedures. Pure; the executor's lock guards it.
//
// A nonce is first reserved: one submission is in progress, others wait for it. Then it is assigned to a pid (durable
// with the procedure, evicted with it), refused permanently (remembered in memory for a while), or withdrawn (refused
// for a condition that may pass; the nonce may try again).
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/base/strong_id.h"

namespace ratchet::procedure {

class NonceTable {
 public:
  using Key = std::pair<std::uint64_t, std::uint64_t>;  // group, nonce
  using Answer = std::function<void(Result<ProcId>)>;

  // First: the caller continues and ends with Give, Refuse or Withdraw. Otherwise the answer is known (or will be:
  // `waiter` is kept and returned when the reservation ends).
  struct Reservation {
    bool first = false;
    std::optional<Result<ProcId>> answer;
  };
  Reservation Reserve(const Key& key, Answer waiter) {
    const auto [entry, fresh] = entries_.try_emplace(key);
    if (fresh) return {true, std::nullopt};
    if (entry->second.pid.valid()) return {false, Result<ProcId>(entry->second.pid)};
    if (entry->second.refused) return {false, Result<ProcId>(*entry->second.refused)};
    entry->second.waiters.push_back(std::move(waiter));
    return {};
  }
  // Each returns the callbacks that waited.
  std::vector<Answer> Give(const Key& key, ProcId pid) {
    Entry& entry = entries_[key];
    entry.pid = pid;
    return std::exchange(entry.waiters, {});
  }
  std::vector<Answer> Refuse(const Key& key, Error why, TimePoint now) {
    Entry& entry = entries_[key];
    entry.refused = std::move(why);
    refused_.emplace_back(now, key);
    return std::exchange(entry.waiters, {});
  }
  std::vector<Answer> Withdraw(const Key& key) {
    std::vector<Answer> waiters = std::move(entries_[key].waiters);
    entries_.erase(key);
    return waiters;
  }

  void Forget(const Key& key) { entries_.erase(key); }
  // Forgets those refused before `limit`, and the oldest beyond `most`.
  void ForgetRefused(TimePoint limit, std::size_t most) {
    while (!refused_.empty() && (refused_.front().first < limit || refused_.size() > most)) {
      entries_.erase(refused_.front().second);
      refused_.pop_front();
    }
  }
  [[nodiscard]] std::optional<ProcId> Find(const Key& key) const {
    const auto found = entries_.find(key);
    if (found == entries_.end() || !found->second.pid.valid()) return std::nullopt;
    return found->second.pid;
  }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    ProcId pid;
    std::optional<Error> refused;
    std::vector<Answer> waiters;
  };
  std::map<Key, Entry> entries_;
  std::deque<std::pair<TimePoint, Key>> refused_;  // in the order of their refusal
};

}  // namespace ratchet::procedure
