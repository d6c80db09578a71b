// Bytes as text for people and tools: printable ASCII as it is, each other byte as \xHH. Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace ratchet {

[[nodiscard]] constexpr bool IsPrintable(char c) { return c >= 0x20 && c < 0x7f; }

// `also`: printable characters that are also written as \xHH, e.g. the quotes around the text.
[[nodiscard]] std::string PrintableText(std::string_view bytes, std::string_view also = {});

}  // namespace ratchet
