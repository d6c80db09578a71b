#include "common/rights/action.h"

#include <array>
#include <cstddef>

namespace ratchet::rights {
namespace {

constexpr std::array<std::string_view, 5> kNames = {"READ", "WRITE", "EXEC", "CREATE", "ADMIN"};

}  // namespace

std::string_view ActionName(Action action) { return kNames.at(static_cast<std::size_t>(action)); }

std::optional<Actions> Actions::Parse(std::string_view letters) {
  Actions actions;
  for (const char letter : letters) {
    const std::size_t number = kActionLetters.find(letter);
    if (number == std::string_view::npos) return std::nullopt;
    const Actions one = FromBits(1U << number);
    if (actions.HasAny(one)) return std::nullopt;
    actions |= one;
  }
  return actions;
}

std::string Actions::Letters() const {
  std::string letters;
  for (std::size_t number = 0; number < kActionLetters.size(); ++number) {
    if (HasAny(FromBits(1U << number))) letters += kActionLetters[number];
  }
  return letters;
}

std::string Actions::Names() const {
  std::string names;
  for (std::size_t number = 0; number < kNames.size(); ++number) {
    if (!HasAny(FromBits(1U << number))) continue;
    if (!names.empty()) names += ',';
    names += kNames[number];
  }
  return names;
}

}  // namespace ratchet::rights
