#include "common/io/range_checksums.h"

#include <array>

#include "common/base/crc32c.h"

namespace ratchet::io {
namespace {

constexpr std::uint32_t kPolynomial = 0x82f63b78;  // Castagnoli, the lowest power in the highest bit
constexpr std::uint32_t kOne = 1U << 31;
constexpr std::uint32_t kOneByte = kOne >> 8;  // x to the power of 8

// Product of two polynomials modulo the polynomial of the checksum.
constexpr std::uint32_t Multiply(std::uint32_t a, std::uint32_t b) {
  std::uint32_t product = 0;
  for (std::uint32_t power = kOne; power != 0; power >>= 1) {
    if ((a & power) != 0) product ^= b;
    b = (b & 1) != 0 ? (b >> 1) ^ kPolynomial : b >> 1;
  }
  return product;
}

// [k][v]: x to the power of 8 * v * 256^k, for the k-th byte v of a length.
using Powers = std::array<std::array<std::uint32_t, 256>, 4>;

Powers MakePowers() {
  Powers powers{};
  std::uint32_t base = kOneByte;
  for (auto& of_byte : powers) {
    of_byte[0] = kOne;
    for (std::size_t v = 1; v < of_byte.size(); ++v) of_byte[v] = Multiply(of_byte[v - 1], base);
    base = Multiply(of_byte.back(), base);
  }
  return powers;
}

}  // namespace

std::uint32_t ShiftChecksum(std::uint32_t crc, std::uint32_t bytes) {
  static const Powers powers = MakePowers();
  for (std::size_t k = 0; bytes != 0; ++k, bytes >>= 8) crc = Multiply(powers[k][bytes & 0xff], crc);
  return crc;
}

std::uint32_t RangeChecksums::UpTo(std::uint64_t offset, LogBytes& near) {
  const std::uint64_t place = (offset - from_) / kEvery;
  while (kept_.size() <= place) {
    const std::uint64_t at = from_ + (kept_.size() - 1) * kEvery;
    kept_.push_back(Crc32c(bytes_.At(at, kEvery), kept_.back()));
  }
  const std::uint64_t kept = from_ + place * kEvery;
  return Crc32c(near.At(kept, offset - kept), kept_[place]);
}

std::uint32_t RangeChecksums::Of(std::uint64_t begin, LogBytes& at_begin, std::uint64_t end, LogBytes& at_end,
                                 std::uint32_t crc) {
  return UpTo(end, at_end) ^ ShiftChecksum(UpTo(begin, at_begin) ^ crc, static_cast<std::uint32_t>(end - begin));
}

}  // namespace ratchet::io
