// Tables of the legal moves between the states of a machine: each is next to its enum, as one set for each state.
// Values; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace ratchet {

// States are enumerators below 32. Made by the compiler only.
template <class State>
class StateSet {
 public:
  consteval StateSet(std::initializer_list<State> states) {
    for (const State state : states) bits_ |= Bit(state);
  }
  [[nodiscard]] constexpr std::uint32_t bits() const { return bits_; }
  [[nodiscard]] constexpr bool Contains(State state) const { return (bits_ & Bit(state)) != 0; }

 private:
  static constexpr std::uint32_t Bit(State state) { return std::uint32_t{1} << static_cast<unsigned>(state); }
  std::uint32_t bits_ = 0;
};

// `moves`: the states that may follow `from`. Staying is not a move, and is always legal.
template <class State>
[[nodiscard]] constexpr bool MayGo(State from, State to, StateSet<State> moves) {
  return from == to || moves.Contains(to);
}

// The moves as a table that the compiler makes, for moves that are made millions of times: two loads and a comparison.
// `states` are all states, numbered from 0.
template <class State, std::size_t kStates>
class MoveTable {
 public:
  consteval MoveTable(const std::array<State, kStates>& states, StateSet<State> (*moves_from)(State)) {
    for (const State state : states) sets_[static_cast<std::size_t>(state)] = moves_from(state).bits();
  }
  [[nodiscard]] constexpr bool MayGo(State from, State to) const {
    return from == to || ((sets_[static_cast<std::size_t>(from)] >> static_cast<unsigned>(to)) & 1) != 0;
  }

 private:
  std::array<std::uint32_t, kStates> sets_{};
};

}  // namespace ratchet
