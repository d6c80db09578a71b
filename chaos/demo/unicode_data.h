// Rows from the main file of the Unicode Character Database: one row per code point, one column per field.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/client/operations.h"

namespace ratchet::chaos {

struct UnicodeRow {
  std::string key;                                          // code point, 6 hex digits, so that rows sort by number
  std::vector<std::pair<std::string, std::string>> fields;  // column name and value, including empty ones
};

inline constexpr const char* kUnicodeDataFile = "/usr/share/unicode/UnicodeData.txt";

// kNotFound when the file is missing (Debian package unicode-data); kCorruption names a malformed line.
[[nodiscard]] Result<std::vector<UnicodeRow>> ReadUnicodeData(const std::string& file);

// Returns keys that split the rows into `regions` parts of equal size.
[[nodiscard]] std::vector<std::string> EvenSplitKeys(const std::vector<UnicodeRow>& rows, std::size_t regions);

[[nodiscard]] client::Mutation PutOf(const UnicodeRow& row);

}  // namespace ratchet::chaos
