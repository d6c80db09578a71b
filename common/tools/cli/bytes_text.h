// Bytes as text for terminals, and back: printable ASCII as it is, everything else as \xHH (and '\' as \\).
#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"

namespace ratchet::cli {

// UTF-8 text stays readable when `keep_utf8` is set and the bytes are valid UTF-8 without control characters.
[[nodiscard]] std::string ToText(std::string_view bytes, bool keep_utf8 = true);
// Text from others (a reason, an error) for a terminal, which must not obey it: control characters and bytes that are
// not UTF-8 become \xHH; all else is unchanged. `keep_lines`: ends of lines are unchanged too.
[[nodiscard]] std::string TerminalText(std::string_view text, bool keep_lines = false);
// Like TerminalText, for JSON, where only bytes that are not UTF-8 are invalid: they become U+FFFD.
[[nodiscard]] std::string Utf8Text(std::string_view text);
// kInvalidArgument for a backslash that starts neither \xHH nor a doubled backslash.
[[nodiscard]] Result<std::string> FromText(std::string_view text);

}  // namespace ratchet::cli
