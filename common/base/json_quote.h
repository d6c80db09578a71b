// Writes a text as a JSON string.
#pragma once

#include <string>
#include <string_view>

namespace ratchet {

// Includes the quotes. UTF-8 stays unchanged. A byte that is not part of a UTF-8 character becomes the code point of
// its number, so any bytes give a valid document.
[[nodiscard]] std::string JsonQuote(std::string_view text);

}  // namespace ratchet
