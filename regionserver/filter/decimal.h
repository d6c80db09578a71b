// Decimal numbers as HBase stores them: a scale of 4 bytes, and an integer of any length in two's complement, both
// big-endian. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace ratchet::regionserver::filters {

// Value = integer * 10^-scale. Integers have at most 256 bytes, scales are between -1000 and 1000.
class Decimal {
 public:
  [[nodiscard]] static Result<Decimal> Decode(std::string_view bytes);
  // Returns -1, 0 or 1; 2.0 and 2.00 are equal.
  [[nodiscard]] int Compare(const Decimal& other) const;

 private:
  bool negative_ = false;
  std::string digits_;  // decimal, without leading zeros; empty: zero
  std::int32_t scale_ = 0;
};

}  // namespace ratchet::regionserver::filters
