#include "common/ops/api/json_text.h"

#include <cstddef>

#include <fmt/format.h>

#include "common/base/utf8.h"

namespace ratchet::api {

std::string JsonString(std::string_view text) {
  std::string json = "\"";
  while (!text.empty()) {
    const auto c = static_cast<unsigned char>(text.front());
    const std::size_t length = c < 0x80 ? 1 : Utf8Length(text);
    if (length == 0) {
      json += "\\ufffd";
    } else if (c == '"' || c == '\\') {
      json += {'\\', text.front()};
    } else if (c < 0x20 || c == '<' || c == '>' || c == '&' || c == 0x7F) {  // also safe within an HTML page
      json += fmt::format("\\u{:04x}", c);
    } else {
      json += text.substr(0, length);
    }
    text.remove_prefix(length > 0 ? length : 1);
  }
  return json + "\"";
}

}  // namespace ratchet::api
