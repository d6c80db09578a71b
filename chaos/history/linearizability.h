// Is there an order of a key's operations, within the times in which each ran, that explains every answer?
//
// A search over configurations (which operations are placed, what the key holds then), depth first, each visited once:
// the algorithm of Wing and Gong with Lowe's just-in-time order and memory. Keys are independent of each other, so each
// is checked alone (linearizability is compositional). Pure; memory and time are bounded by CheckLimits.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "chaos/history/check_limits.h"
#include "chaos/history/operation.h"

namespace ratchet::chaos {

struct KeyVerdict {
  Linearizability verdict = Linearizability::kUndecided;
  std::size_t configurations = 0;
  // kNo: the smallest window of operations that cannot be ordered, with what the key may have held before it.
  // kUndecided: how far the search came.
  std::string explanation;
};

// All operations must be of one key, which holds `initial` at first. Any order of the list.
[[nodiscard]] KeyVerdict CheckKey(const History& operations, const Value& initial = std::nullopt,
                                  const CheckLimits& limits = {});

struct HistoryVerdict {
  struct BadKey {
    std::string key;
    KeyVerdict verdict;
  };
  std::size_t keys = 0;
  std::size_t operations = 0;
  std::vector<BadKey> bad;        // kNo
  std::vector<BadKey> undecided;  // kUndecided
  [[nodiscard]] bool good() const { return bad.empty() && undecided.empty(); }
};

// Every key of the history by itself; all hold nothing at first.
[[nodiscard]] HistoryVerdict CheckHistory(const History& history, const CheckLimits& limits = {});

// What the key may hold after all of its answered operations; operations of unknown outcome may have happened or not.
// kNotFound when there is no order at all, kResourceExhausted when the limit was reached first.
[[nodiscard]] Result<std::vector<Value>> PossibleValues(const History& operations, const Value& initial = std::nullopt,
                                                        const CheckLimits& limits = {});

}  // namespace ratchet::chaos
