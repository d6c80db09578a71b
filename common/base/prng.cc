#include "common/base/prng.h"

#include <sys/random.h>

#include "common/base/check.h"

namespace ratchet {
namespace {

std::uint64_t RotateLeft(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

std::uint64_t SplitMix(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15ULL;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

}  // namespace

Prng::Prng(std::uint64_t seed) {
  for (auto& word : state_) word = SplitMix(seed);
}

std::uint64_t Prng::Next() {
  const std::uint64_t result = RotateLeft(state_[1] * 5, 7) * 9;
  const std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = RotateLeft(state_[3], 45);
  return result;
}

std::uint64_t Prng::Below(std::uint64_t bound) {
  RATCHET_CHECK(bound > 0, "an empty range has no number to draw");
  return Next() % bound;
}

std::int64_t Prng::Between(std::int64_t low, std::int64_t high) {
  RATCHET_CHECK(low <= high, "range {}..{} is empty", low, high);
  return low + static_cast<std::int64_t>(Below(static_cast<std::uint64_t>(high - low) + 1));
}

bool Prng::Chance(std::uint64_t numerator, std::uint64_t denominator) { return Below(denominator) < numerator; }

std::uint64_t RandomSeed() {
  std::uint64_t seed = 0;
  RATCHET_CHECK(getrandom(&seed, sizeof seed, 0) == sizeof seed, "the system gave no entropy");
  return seed;
}

}  // namespace ratchet
