#include "chaos/demo/unicode_data.h"

#include <array>
#include <charconv>
#include <fstream>

namespace ratchet::chaos {
namespace {

constexpr std::array<const char*, 15> kFields = {"code_point", "name",          "general_category", "combining_class",
                                                 "bidi_class", "decomposition", "decimal_digit",    "digit",
                                                 "numeric",    "bidi_mirrored", "old_name",         "iso_comment",
                                                 "upper_case", "lower_case",    "title_case"};

}  // namespace

Result<std::vector<UnicodeRow>> ReadUnicodeData(const std::string& file) {
  std::ifstream input(file);
  if (!input) {
    return Error(Code::kNotFound, fmt::format("cannot read {}: install Debian's package unicode-data", file));
  }
  std::vector<UnicodeRow> rows;
  std::string line;
  while (std::getline(input, line)) {
    UnicodeRow row;
    std::size_t start = 0;
    for (const char* field : kFields) {
      const auto end = std::min(line.find(';', start), line.size());
      row.fields.emplace_back(field, line.substr(start, end - start));
      start = std::min(end + 1, line.size());
    }
    std::uint32_t code_point = 0;
    const std::string& text = row.fields.front().second;
    if (text.empty() ||
        std::from_chars(text.data(), text.data() + text.size(), code_point, 16).ptr != text.data() + text.size()) {
      return Error(Code::kCorruption, fmt::format("{}: line {} begins with no code point", file, rows.size() + 1));
    }
    row.key = fmt::format("{:06X}", code_point);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<std::string> EvenSplitKeys(const std::vector<UnicodeRow>& rows, std::size_t regions) {
  std::vector<std::string> keys;
  for (std::size_t i = 1; i < regions; ++i) keys.push_back(rows[i * rows.size() / regions].key);
  return keys;
}

client::Mutation PutOf(const UnicodeRow& row) {
  auto put = client::Mutation::Put(row.key);
  for (const auto& [field, value] : row.fields) put.Set("u", field, value);
  return put;
}

}  // namespace ratchet::chaos
