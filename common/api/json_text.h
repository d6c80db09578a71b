// Pieces of JSON text.
#pragma once

#include <string>
#include <string_view>

namespace ratchet::api {

// With its quotes. Bytes that are no UTF-8 become U+FFFD, so that the text is JSON whatever a name holds.
[[nodiscard]] std::string JsonString(std::string_view text);

}  // namespace ratchet::api
