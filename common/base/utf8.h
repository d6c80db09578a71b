// Finds the characters of UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ratchet {

// Returns the length of the multi-byte UTF-8 character with which the text begins; 0: there is none.
[[nodiscard]] std::size_t Utf8Length(std::string_view text);

// Returns the text with each byte that is not part of a UTF-8 character replaced by U+FFFD.
[[nodiscard]] std::string ToUtf8(std::string_view bytes);

}  // namespace ratchet
