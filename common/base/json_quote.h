// A text as a string of JSON.
#pragma once

#include <string>
#include <string_view>

namespace ratchet {

// With its quotes; ASCII only. A byte that is not ASCII becomes the code point of its number: names are ASCII in
// practice, and no bytes break the document.
[[nodiscard]] std::string JsonQuote(std::string_view text);

}  // namespace ratchet
