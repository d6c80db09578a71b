// HBase's comparators: relate what a request expects to what is stored. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/base/result.h"

namespace ratchet::regionserver::filters {

enum class CompareOp : std::uint8_t { kLess, kLessOrEqual, kEqual, kNotEqual, kGreaterOrEqual, kGreater, kNever };

// What a stored value could not be read as; the first one counts. Shared by the comparators of one filter.
struct Faults {
  Status status = Ok();
};

class Comparator {
 public:
  virtual ~Comparator() = default;
  // The sign of `expected` against `stored`; those without an order: 0 if it matches, else 1. kInvalidArgument:
  // `stored` is no such value.
  [[nodiscard]] virtual Result<int> Compare(std::string_view stored) const = 0;
  // A condition of it means "absent or empty".
  [[nodiscard]] virtual bool ExpectsNothing() const { return false; }
  // What it keeps besides its bytes in the request.
  [[nodiscard]] virtual std::size_t held_bytes() const { return 0; }
};

// `stored op expected`.
[[nodiscard]] bool Holds(CompareOp op, int expected_against_stored);

}  // namespace ratchet::regionserver::filters
