// Evaluates a condition against the value of a column (docs/wire-compatibility.md). Pure.
#pragma once

#include <optional>
#include <string_view>

#include "common/base/result.h"
#include "regionserver/region/requests.h"

namespace ratchet::regionserver {

// `stored` is the newest value of the column in the condition's time range; nullopt if there is none.
[[nodiscard]] Result<bool> Holds(const Condition& condition, std::optional<std::string_view> stored);

}  // namespace ratchet::regionserver
