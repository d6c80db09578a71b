// Checks whether an order of a key's operations, each within its running time, explains every answer.
//
// A depth-first search over configurations (the placed operations and the key's value), each visited once: the
// algorithm of Wing and Gong with Lowe's just-in-time order and memory. Keys are independent of each other, so each is
// checked alone (linearizability is compositional). Pure; memory and time are bounded by CheckLimits.
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
  // kNo: the smallest window of operations without an order, and the key's possible values before it. kUndecided: how
  // far the search came.
  std::string explanation;
};

// All operations must be on one key, with `initial` as its first value. The list may have any order.
[[nodiscard]] KeyVerdict CheckKey(const History& operations, const Value& initial = std::nullopt,
                                  const CheckLimits& limits = {});

struct HistoryVerdict {
  struct BadKey {
    std::string key;
    KeyVerdict verdict;
  };
  std::size_t keys = 0;
  std::size_t operations = 0;
  std::vector<BadKey> bad;        // keys with kNo
  std::vector<BadKey> undecided;  // keys with kUndecided
  [[nodiscard]] bool good() const { return bad.empty() && undecided.empty(); }
};

// Checks every key of the history by itself; every key is empty at first.
[[nodiscard]] HistoryVerdict CheckHistory(const History& history, const CheckLimits& limits = {});

// Returns the key's possible values after all of its answered operations; operations of unknown outcome may have
// happened or not. kNotFound when there is no order, kResourceExhausted when the limit was reached first.
[[nodiscard]] Result<std::vector<Value>> PossibleValues(const History& operations, const Value& initial = std::nullopt,
                                                        const CheckLimits& limits = {});

}  // namespace ratchet::chaos
