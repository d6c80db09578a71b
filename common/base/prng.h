// The only source of randomness. Seeded, so that a printed seed repeats every choice.
#pragma once

#include <cstdint>

namespace ratchet {

// xoshiro256** seeded through splitmix64. Not thread-safe: one per owner, forked with Fork().
class Prng {
 public:
  explicit Prng(std::uint64_t seed);
  [[nodiscard]] std::uint64_t Next();
  // Uniform in [0, bound); bound > 0.
  [[nodiscard]] std::uint64_t Below(std::uint64_t bound);
  // Uniform in [low, high], both included.
  [[nodiscard]] std::int64_t Between(std::int64_t low, std::int64_t high);
  // True with probability numerator / denominator.
  [[nodiscard]] bool Chance(std::uint64_t numerator, std::uint64_t denominator);
  // An independent generator for a part, so that parts do not disturb each other's sequences.
  [[nodiscard]] Prng Fork() { return Prng(Next()); }

  // UniformRandomBitGenerator, for std::shuffle.
  using result_type = std::uint64_t;
  static constexpr std::uint64_t min() { return 0; }
  static constexpr std::uint64_t max() { return UINT64_MAX; }
  result_type operator()() { return Next(); }

 private:
  std::uint64_t state_[4];
};

// Draws from the operating system's entropy: for seeds that are then printed, nonces and start-up identities.
[[nodiscard]] std::uint64_t RandomSeed();

}  // namespace ratchet
