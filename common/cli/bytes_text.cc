#include "common/cli/bytes_text.h"

#include <cctype>

namespace ratchet::cli {
namespace {

// Length of the UTF-8 sequence that starts here, 0 when it is none.
std::size_t Utf8Length(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char first = at(0);
  const std::size_t length = first >= 0xF0 && first < 0xF5 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 0;
  if (length == 0 || first >= 0xF5 || bytes.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((at(i) & 0xC0U) != 0x80U) return 0;
  }
  if (first == 0xC2 && at(1) < 0xA0) return 0;  // control characters
  return length;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string ToText(std::string_view bytes, bool keep_utf8) {
  std::string text;
  while (!bytes.empty()) {
    const char c = bytes.front();
    const std::size_t sequence = keep_utf8 ? Utf8Length(bytes) : 0;
    if (c == '\\')
      text += "\\\\";
    else if (c >= 0x20 && c < 0x7f)
      text += c;
    else if (sequence > 0)
      text += bytes.substr(0, sequence);
    else
      text += fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
    bytes.remove_prefix(sequence > 0 ? sequence : 1);
  }
  return text;
}

Result<std::string> FromText(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      bytes += text[i];
      continue;
    }
    if (i + 1 < text.size() && text[i + 1] == '\\') {
      bytes += '\\';
      ++i;
      continue;
    }
    const bool hex =
        i + 3 < text.size() && text[i + 1] == 'x' && HexDigit(text[i + 2]) >= 0 && HexDigit(text[i + 3]) >= 0;
    if (!hex) {
      return Error(Code::kInvalidArgument,
                   fmt::format("'{}': a backslash must start \\xHH (two hex digits) or be doubled", text));
    }
    bytes += static_cast<char>(HexDigit(text[i + 2]) * 16 + HexDigit(text[i + 3]));
    i += 3;
  }
  return bytes;
}

}  // namespace ratchet::cli
