// Tables of the legal moves between the states of a machine: each stands beside its enum, as one set for each state.
// Values; any thread.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace ratchet {

// States are enumerators below 32.
template <class State>
class StateSet {
 public:
  constexpr StateSet(std::initializer_list<State> states) {
    for (const State state : states) bits_ |= Bit(state);
  }
  [[nodiscard]] constexpr bool Contains(State state) const { return (bits_ & Bit(state)) != 0; }

 private:
  static constexpr std::uint32_t Bit(State state) { return std::uint32_t{1} << static_cast<unsigned>(state); }
  std::uint32_t bits_ = 0;
};

// `moves`: where `from` may go. Staying is no move, and always legal.
template <class State>
[[nodiscard]] constexpr bool MayGo(State from, State to, StateSet<State> moves) {
  return from == to || moves.Contains(to);
}

}  // namespace ratchet
