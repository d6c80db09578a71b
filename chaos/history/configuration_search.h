// The search of the linearizability check. For linearizability.cc and counterexample.cc only. Pure.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "chaos/history/check_limits.h"
#include "chaos/history/operation.h"

namespace ratchet::chaos {

// One search over one key's operations. Operations that cannot have changed the key (failed ones, reads without an
// answer) are left out. The members of `operations` must outlive it.
class ConfigurationSearch {
 public:
  ConfigurationSearch(const std::vector<const Operation*>& operations, const Value& initial, const CheckLimits& limits);

  // Returns kYes as soon as one order is found.
  [[nodiscard]] Linearizability FindOrder() { return Run(false); }
  // Visits all orders: afterwards final_values() is complete unless kUndecided.
  [[nodiscard]] Linearizability FindAllEnds() { return Run(true); }

  [[nodiscard]] std::size_t configurations() const { return visited_.size(); }
  [[nodiscard]] std::size_t most_placed() const { return most_placed_; }
  [[nodiscard]] std::size_t operations() const { return entries_.size(); }
  [[nodiscard]] std::vector<Value> final_values() const;

 private:
  using StateId = std::uint32_t;
  struct Entry {
    const Operation* operation = nullptr;
    bool answered = false;
    std::uint64_t high = 0;  // random: the key of a set of placed operations is the exclusive or of its members
    std::uint64_t low = 0;
  };
  // Call and return events in time order, as a doubly linked list by index; placed operations are unlinked.
  struct Node {
    std::uint32_t entry = 0;
    bool is_return = false;
    std::uint32_t previous = 0;
    std::uint32_t next = 0;
    std::uint32_t match = 0;  // for a call: its return; kNone for an unknown outcome
  };
  struct Candidate {
    std::uint32_t node = 0;
    StateId after = 0;
  };
  struct Frame {
    StateId state = 0;
    std::vector<Candidate> candidates;
    std::size_t next = 0;
    std::uint32_t placed = 0;  // node that was placed to reach this frame; 0 for the first frame
  };
  struct Key {
    std::uint64_t high = 0;
    std::uint64_t low = 0;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const { return key.high; }
  };

  Linearizability Run(bool all);
  StateId Intern(const Value& value);
  // Collects the operations that can be placed next; returns false when no answered operation is left.
  bool Candidates(StateId state, std::vector<Candidate>& out);
  void Place(std::uint32_t node);
  void Unplace(std::uint32_t node);
  [[nodiscard]] Key KeyOf(StateId state) const;

  static constexpr std::uint32_t kNone = UINT32_MAX;
  const CheckLimits limits_;
  std::vector<Entry> entries_;
  std::vector<Node> nodes_;  // nodes_[0]: the list's head and tail
  std::deque<Value> states_;
  std::unordered_map<std::string, StateId> state_ids_;  // ids of values; 0 is "nothing"
  StateId initial_ = 0;
  std::unordered_set<Key, KeyHash> visited_;
  std::unordered_set<StateId> ends_;
  std::uint64_t high_ = 0;
  std::uint64_t low_ = 0;
  std::size_t placed_ = 0;
  std::size_t most_placed_ = 0;
};

}  // namespace ratchet::chaos
