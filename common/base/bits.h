// Bits<Tag>: a set of named bits, combined with `|`, that does not mix with other kinds of bits.
#pragma once

#include <cstdint>

namespace ratchet {

template <class Tag>
class Bits {
 public:
  constexpr Bits() = default;
  constexpr explicit Bits(std::uint8_t bits) : bits_(bits) {}

  [[nodiscard]] friend constexpr Bits operator|(Bits a, Bits b) {
    return Bits(static_cast<std::uint8_t>(a.bits_ | b.bits_));
  }
  [[nodiscard]] friend constexpr bool Includes(Bits all, Bits some) { return (all | some) == all; }
  constexpr bool operator==(const Bits&) const = default;

 private:
  std::uint8_t bits_ = 0;
};

}  // namespace ratchet
