// Makes pieces of JSON text.
#pragma once

#include <string>
#include <string_view>

namespace ratchet::api {

// Includes the quotes. Bytes that are not UTF-8 become U+FFFD, so that the text is valid JSON whatever a name contains.
[[nodiscard]] std::string JsonString(std::string_view text);

}  // namespace ratchet::api
