#include "common/base/json_quote.h"

#include <fmt/format.h>

#include "common/base/utf8.h"

namespace ratchet {

std::string JsonQuote(std::string_view text) {
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const auto byte = static_cast<unsigned char>(c);
    if (const std::size_t length = Utf8Length(text.substr(i)); length > 0) {
      out += text.substr(i, length);
      i += length - 1;
      continue;
    }
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte >= 0x7f) {
      out += fmt::format("\\u{:04x}", byte);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

}  // namespace ratchet
