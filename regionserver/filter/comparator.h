// HBase's comparators: relate what a request expects to what is stored. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/base/result.h"

namespace ratchet::regionserver::filters {

enum class CompareOp : std::uint8_t { kLess, kLessOrEqual, kEqual, kNotEqual, kGreaterOrEqual, kGreater, kNever };

// The first error of a comparator that could not parse a stored value. Shared by the comparators of one filter.
struct Faults {
  Status status = Ok();
};

class Comparator {
 public:
  virtual ~Comparator() = default;
  // Returns the sign of the expected value against `stored`; a comparator without an order returns 0 for a match, else
  // 1. kInvalidArgument: `stored` cannot be parsed.
  [[nodiscard]] virtual Result<int> Compare(std::string_view stored) const = 0;
  // True when a condition with this comparator means "absent or empty".
  [[nodiscard]] virtual bool ExpectsNothing() const { return false; }
  // Memory that the comparator holds in addition to its bytes in the request.
  [[nodiscard]] virtual std::size_t held_bytes() const { return 0; }
};

// Returns whether `stored op expected` is true.
[[nodiscard]] inline bool Holds(CompareOp op, int expected_against_stored) {
  switch (op) {
    case CompareOp::kLess: return expected_against_stored > 0;
    case CompareOp::kLessOrEqual: return expected_against_stored >= 0;
    case CompareOp::kEqual: return expected_against_stored == 0;
    case CompareOp::kNotEqual: return expected_against_stored != 0;
    case CompareOp::kGreaterOrEqual: return expected_against_stored <= 0;
    case CompareOp::kGreater: return expected_against_stored < 0;
    case CompareOp::kNever: return false;
  }
  return false;
}

}  // namespace ratchet::regionserver::filters
