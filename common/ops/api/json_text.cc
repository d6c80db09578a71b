#include "common/ops/api/json_text.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

namespace ratchet::api {
namespace {

// Returns the length of the well-formed UTF-8 character at `at`; 0: none.
std::size_t Utf8Length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  const std::size_t length = first < 0x80                    ? 1
                             : first >= 0xC2 && first < 0xE0 ? 2
                             : first >= 0xE0 && first < 0xF0 ? 3
                             : first >= 0xF0 && first < 0xF5 ? 4
                                                             : 0;
  if (length == 0 || at + length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0U) != 0x80U) return 0;
  }
  if (first == 0xE0 && byte(at + 1) < 0xA0) return 0;   // overlong
  if (first == 0xED && byte(at + 1) >= 0xA0) return 0;  // surrogates
  if (first == 0xF0 && byte(at + 1) < 0x90) return 0;
  if (first == 0xF4 && byte(at + 1) >= 0x90) return 0;
  return length;
}

}  // namespace

std::string JsonString(std::string_view text) {
  std::string json = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = Utf8Length(text, at);
    if (length == 0) {
      json += "\\ufffd";
      ++at;
      continue;
    }
    const auto c = static_cast<unsigned char>(text[at]);
    if (length > 1) {
      json.append(text, at, length);
    } else if (c == '"' || c == '\\') {
      json.push_back('\\');
      json.push_back(text[at]);
    } else if (c < 0x20 || c == '<' || c == '>' || c == '&' || c == 0x7F) {  // also safe within an HTML page
      json += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      json.push_back(text[at]);
    }
    at += length;
  }
  return json + "\"";
}

}  // namespace ratchet::api
