// Bytes as text for terminals, and back: printable ASCII as it is, everything else as \xHH (and '\' as \\).
#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"

namespace ratchet::cli {

// UTF-8 text stays readable when `keep_utf8` is set and the bytes are valid UTF-8 without control characters.
[[nodiscard]] std::string ToText(std::string_view bytes, bool keep_utf8 = true);
// kInvalidArgument for a backslash that starts neither \xHH nor a doubled backslash.
[[nodiscard]] Result<std::string> FromText(std::string_view text);

}  // namespace ratchet::cli
