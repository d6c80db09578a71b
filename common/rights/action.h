// Action: one of the five kinds of use that a right allows, with HBase's letters and numbers; Actions: a set of them.
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ratchet::rights {

// The numbers are HBase's (Permission.Action) and are stored.
enum class Action : std::uint8_t { kRead = 0, kWrite = 1, kExec = 2, kCreate = 3, kAdmin = 4 };

inline constexpr std::string_view kActionLetters = "RWXCA";  // the letter of an action is at its number

// "READ"
[[nodiscard]] std::string_view ActionName(Action action);

class Actions {
 public:
  constexpr Actions() = default;
  constexpr Actions(Action action) : bits_(Bit(action)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] static constexpr Actions All() { return FromBits(kAllBits); }
  [[nodiscard]] static constexpr bool IsValid(std::uint32_t bits) { return (bits & ~std::uint32_t{kAllBits}) == 0; }
  // `bits`: from bits(), and valid.
  [[nodiscard]] static constexpr Actions FromBits(std::uint32_t bits) {
    Actions actions;
    actions.bits_ = static_cast<std::uint8_t>(bits & kAllBits);
    return actions;
  }
  // Letters in any order, each at most once; nothing for other text. "" is the empty set.
  [[nodiscard]] static std::optional<Actions> Parse(std::string_view letters);

  [[nodiscard]] constexpr std::uint8_t bits() const { return bits_; }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
  [[nodiscard]] constexpr bool HasAny(Actions of) const { return (bits_ & of.bits_) != 0; }
  [[nodiscard]] constexpr bool HasAll(Actions of) const { return (bits_ & of.bits_) == of.bits_; }
  [[nodiscard]] constexpr Actions Without(Actions other) const { return FromBits(bits_ & ~std::uint32_t{other.bits_}); }
  [[nodiscard]] std::string Letters() const;  // "RWXCA", as in the cells of hbase:acl
  [[nodiscard]] std::string Names() const;    // "READ,WRITE"
  constexpr Actions& operator|=(Actions other) { return *this = FromBits(bits_ | std::uint32_t{other.bits_}); }
  [[nodiscard]] friend constexpr Actions operator|(Actions a, Actions b) { return a |= b; }
  constexpr bool operator==(const Actions&) const = default;

 private:
  static constexpr std::uint8_t kAllBits = 0x1f;
  static constexpr std::uint8_t Bit(Action action) {
    return static_cast<std::uint8_t>(1U << static_cast<unsigned>(action));
  }
  std::uint8_t bits_ = 0;
};

[[nodiscard]] constexpr Actions operator|(Action a, Action b) { return Actions(a) | Actions(b); }

}  // namespace ratchet::rights
