// Decimal numbers with two places and any number of digits: the arithmetic of HBase's BigDecimalColumnInterpreter. A
// stored number has a scale of 4 bytes and an integer in two's complement, both big-endian; values and products are
// rounded to two places, half to even. Pure.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "common/base/result.h"

struct bignum_st;

namespace ratchet::regionserver {

class Hundredths {
 public:
  Hundredths();  // 0
  Hundredths(const Hundredths& other);
  Hundredths(Hundredths&& other) noexcept = default;
  Hundredths& operator=(const Hundredths& other);
  Hundredths& operator=(Hundredths&& other) noexcept = default;
  ~Hundredths() = default;

  // Returns whether the bytes are a number in this form; shorter ones are not.
  [[nodiscard]] static bool IsNumber(std::string_view bytes);
  // DoNotRetryIOException: an integer of more than 256 bytes, or a scale beyond -1000..1000.
  [[nodiscard]] static Result<Hundredths> Decode(std::string_view bytes);
  [[nodiscard]] std::string Encode() const;  // with a scale of 2

  [[nodiscard]] Hundredths Plus(const Hundredths& other) const;
  [[nodiscard]] Hundredths Times(const Hundredths& other) const;
  [[nodiscard]] bool operator<(const Hundredths& other) const;

 private:
  struct Free {
    void operator()(bignum_st* number) const;
  };
  // Rounds away this number of places beyond two; a negative number adds places.
  void DropPlaces(int places);
  std::unique_ptr<bignum_st, Free> count_;  // the value times 100
};

}  // namespace ratchet::regionserver
