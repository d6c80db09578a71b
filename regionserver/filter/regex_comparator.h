// RegexStringComparator on RE2. What differs from Java's expressions: docs/wire-compatibility.md.
#pragma once

#include <memory>
#include <string_view>

#include "common/base/result.h"
#include "regionserver/filter/comparator.h"

namespace ratchet::regionserver::filters {

// What one expression may take in memory; it runs in linear time whatever it is.
inline constexpr std::size_t kRegexBytes = 512u << 10;
inline constexpr std::size_t kMaxPatternBytes = 64u << 10;

// `flags`: those of java.util.regex.Pattern.
[[nodiscard]] Result<std::unique_ptr<Comparator>> MakeRegex(std::string_view pattern, int flags,
                                                            std::string_view charset);

}  // namespace ratchet::regionserver::filters
