// <root>/numbers: numbers that must never decrease, kept outside of the procedure store, as names of empty files.
//
//   pid.<limit>                  no procedure has a pid above the limit (S117: pid limit)
//   store.<epoch>.<sequence>     the store held this sequence, written or accepted by the owner of this epoch (S114:
//                                no start without the past); store.0.0: no owner has acted yet
//
// A name is renamed upwards and synced before the number in it is relied upon, and is never lowered. Any thread.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/io/disk.h"

namespace ratchet::io {

inline constexpr const char* kNumbersFolder = "numbers";
inline constexpr const char* kProceduresFolder = "procedures";

// The newest state of the procedure store that is known to have been durable.
struct StoreMark {
  std::uint64_t epoch = 0;
  std::uint64_t sequence = 0;
  auto operator<=>(const StoreMark&) const = default;
};

// "<prefix>.<number>", in the form that this code writes: no sign, no leading zero except in "0", at most 2^62.
// nullopt: another name.
[[nodiscard]] std::optional<std::uint64_t> NumberAfter(std::string_view prefix, std::string_view name);
[[nodiscard]] std::optional<StoreMark> ParseStoreMark(std::string_view name);

// The numbers in the names of the folder. If there are several names of a kind, the highest counts.
struct RootNumbers {
  std::optional<StoreMark> mark;
  std::uint64_t pid_limit = 0;  // 0: no limit was ever set
};
[[nodiscard]] RootNumbers NumbersIn(const std::vector<std::string>& names);

// Reads <root>/numbers; an empty or missing folder gives an empty result.
[[nodiscard]] Result<RootNumbers> ReadRootNumbers(Directory& root);

// Makes <root>/numbers with store.0.0, durably, if no part of it exists. Call it before the first claim in the root: a
// claim in the root then shows that the folder is durable. Several processes may do so at the same time.
[[nodiscard]] Result<std::unique_ptr<Directory>> EnsureRootNumbers(Directory& root);

// Raises the names to the numbers of `to` that are set, with one sync. Durable when it returns; Ok also when the
// existing names are higher. `numbers`: the folder.
[[nodiscard]] Status RaiseRootNumbers(Directory& numbers, const RootNumbers& to);
[[nodiscard]] Status RaisePidLimit(Directory& numbers, std::uint64_t limit);
[[nodiscard]] Status RaiseStoreMark(Directory& numbers, StoreMark mark);

}  // namespace ratchet::io
