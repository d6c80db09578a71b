// Writes a text as a JSON string, and finds the characters of UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ratchet {

// Includes the quotes. UTF-8 stays unchanged. A byte that is not part of a UTF-8 character becomes the code point of
// its number, so any bytes give a valid document.
[[nodiscard]] std::string JsonQuote(std::string_view text);

// Returns the length of the multi-byte UTF-8 character with which the text begins; 0: there is none.
[[nodiscard]] std::size_t Utf8Length(std::string_view text);

}  // namespace ratchet
