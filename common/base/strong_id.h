// Id<Tag>: an unsigned 64-bit number that does not mix with other kinds of numbers.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

#include <fmt/format.h>

namespace ratchet {

template <class Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(std::uint64_t value) : value_(value) {}
  [[nodiscard]] constexpr std::uint64_t value() const { return value_; }
  // Zero means "none".
  [[nodiscard]] constexpr bool valid() const { return value_ != 0; }
  [[nodiscard]] constexpr Id Next() const { return Id(value_ + 1); }
  constexpr auto operator<=>(const Id&) const = default;

 private:
  std::uint64_t value_ = 0;
};

// A procedure's number: unique and rising over the whole life of a cluster.
using ProcId = Id<struct ProcIdTag>;
// The number of a master's claim on the procedure store (S7: seal before acting, to S9: claims are never removed);
// higher wins.
using Epoch = Id<struct EpochTag>;

}  // namespace ratchet

template <class Tag>
struct std::hash<ratchet::Id<Tag>> {
  std::size_t operator()(const ratchet::Id<Tag>& id) const noexcept { return std::hash<std::uint64_t>{}(id.value()); }
};

template <class Tag>
struct fmt::formatter<ratchet::Id<Tag>> : fmt::formatter<std::uint64_t> {
  template <class Context>
  auto format(const ratchet::Id<Tag>& id, Context& context) const {
    return fmt::formatter<std::uint64_t>::format(id.value(), context);
  }
};
