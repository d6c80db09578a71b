// Decimal numbers as HBase stores them: a scale of 4 bytes, and an integer of any length in two's complement, both
// big-endian. Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "common/base/result.h"

struct bignum_st;

namespace ratchet::regionserver::filters {

// Value = integer * 10^-scale.
class Decimal {
 public:
  Decimal();  // 0
  Decimal(const Decimal& other);
  Decimal(Decimal&& other) noexcept = default;
  Decimal& operator=(const Decimal& other);
  Decimal& operator=(Decimal&& other) noexcept = default;
  ~Decimal() = default;

  // Returns whether the bytes are long enough for a number.
  [[nodiscard]] static bool IsNumber(std::string_view bytes);
  // Refuses an integer of more than 256 bytes, and a scale beyond -1000..1000. `reader`: for the message.
  [[nodiscard]] static Result<Decimal> Decode(std::string_view bytes, std::string_view reader);
  [[nodiscard]] std::string Encode() const;  // in the shortest form

  // Rounds half to even.
  [[nodiscard]] Decimal Rounded(std::int32_t scale) const;
  [[nodiscard]] Decimal Plus(const Decimal& other) const;
  [[nodiscard]] Decimal Times(const Decimal& other) const;
  // Returns -1, 0 or 1; 2.0 and 2.00 are equal.
  [[nodiscard]] int Compare(const Decimal& other) const;
  [[nodiscard]] bool operator<(const Decimal& other) const { return Compare(other) < 0; }

 private:
  struct Free {
    void operator()(bignum_st* number) const;
  };
  std::unique_ptr<bignum_st, Free> integer_;
  std::int32_t scale_ = 0;
};

}  // namespace ratchet::regionserver::filters
