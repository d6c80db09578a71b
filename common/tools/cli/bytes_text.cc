#include "common/tools/cli/bytes_text.h"

#include <cctype>

#include "common/base/hex.h"
#include "common/base/utf8.h"

namespace ratchet::cli {
namespace {

// Length of the multi-byte UTF-8 character that starts here; 0: there is none, or it is a control character.
std::size_t PrintableLength(std::string_view bytes) {
  const std::size_t length = Utf8Length(bytes);
  return length == 2 && bytes[0] == '\xC2' && static_cast<unsigned char>(bytes[1]) < 0xA0 ? 0 : length;
}

}  // namespace

std::string ToText(std::string_view bytes, bool keep_utf8) {
  std::string text;
  while (!bytes.empty()) {
    const char c = bytes.front();
    const std::size_t sequence = keep_utf8 ? PrintableLength(bytes) : 0;
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

std::string TerminalText(std::string_view text, bool keep_lines) {
  std::string shown;
  while (!text.empty()) {
    const char c = text.front();
    const std::size_t sequence = PrintableLength(text);
    if ((c >= 0x20 && c < 0x7f) || (c == '\n' && keep_lines))
      shown += c;
    else if (sequence > 0)
      shown += text.substr(0, sequence);
    else
      shown += fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
    text.remove_prefix(sequence > 0 ? sequence : 1);
  }
  return shown;
}

std::string Utf8Text(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text.front());
    const std::size_t length = first < 0x80 ? 1 : Utf8Length(text);
    valid += length > 0 ? text.substr(0, length) : std::string_view("\xEF\xBF\xBD");
    text.remove_prefix(length > 0 ? length : 1);
  }
  return valid;
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
