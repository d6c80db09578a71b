// Marks in a table's directory, by file name, that decide whether the directory may be removed (S115: missing row is
// not evidence). Pure functions.
//
//   dropped.<n>   a procedure has durably decided to remove the directory, or has made it without a row yet
//   kept.<n>      the table stays, whatever marks with numbers up to n exist
//
// The highest number decides, so a late mark of a deposed master has no effect.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ratchet::master {

struct DropMarks {
  std::optional<std::uint64_t> dropped;
  std::optional<std::uint64_t> kept;
  [[nodiscard]] bool may_go() const { return dropped && (!kept || *dropped > *kept); }
};
// Returns the highest mark of each kind. `names`: all names in the directory.
[[nodiscard]] DropMarks DropMarksIn(const std::vector<std::string>& names);

[[nodiscard]] std::string DroppedName(std::uint64_t number);
[[nodiscard]] std::string KeptName(std::uint64_t number);

// Returns the mark that allows the removal of the directory; nullopt if it is already allowed.
[[nodiscard]] std::optional<std::string> NameToDrop(const DropMarks& marks, std::uint64_t pid);
// Returns the mark that keeps the directory, also against late marks up to `pid`; nullopt if it is already kept.
[[nodiscard]] std::optional<std::string> NameToKeep(const DropMarks& marks, std::uint64_t pid);

}  // namespace ratchet::master
