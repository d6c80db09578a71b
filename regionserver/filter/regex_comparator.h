// RegexStringComparator on RE2. docs/wire-compatibility.md lists the differences from Java's expressions.
#pragma once

#include <memory>
#include <string_view>

#include "common/base/result.h"
#include "regionserver/filter/comparator.h"

namespace ratchet::regionserver::filters {

// Memory limit of one compiled expression. Its run time is linear in the text.
inline constexpr std::size_t kRegexBytes = 512u << 10;
inline constexpr std::size_t kMaxPatternBytes = 64u << 10;

// `flags` are those of java.util.regex.Pattern.
[[nodiscard]] Result<std::unique_ptr<Comparator>> MakeRegex(std::string_view pattern, int flags,
                                                            std::string_view charset);

}  // namespace ratchet::regionserver::filters
