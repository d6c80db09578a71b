// Decimal numbers with two places and any number of digits: what HBase's BigDecimalColumnInterpreter reckons with. A
// stored number has a scale of 4 bytes and an integer in two's complement, both big-endian; it is rounded to two
// places, half to even, and so is a product. Pure.
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

  // Whether the bytes are a number in this form: shorter ones are none.
  [[nodiscard]] static bool IsNumber(std::string_view bytes);
  // DoNotRetryIOException: an integer of more than 256 bytes, or a scale above 1000 either way.
  [[nodiscard]] static Result<Hundredths> Decode(std::string_view bytes);
  [[nodiscard]] std::string Encode() const;  // with a scale of 2

  [[nodiscard]] Hundredths Plus(const Hundredths& other) const;
  [[nodiscard]] Hundredths Times(const Hundredths& other) const;
  [[nodiscard]] bool operator<(const Hundredths& other) const;

 private:
  struct Free {
    void operator()(bignum_st* number) const;
  };
  // So many more places than two are rounded away; fewer than none: are added.
  void DropPlaces(int places);
  std::unique_ptr<bignum_st, Free> count_;  // of hundredths
};

}  // namespace ratchet::regionserver
