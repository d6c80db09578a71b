// The run drawn over time: traffic above, one row a kind of fault below. Pure.
#pragma once

#include <string>
#include <string_view>

#include "chaos/report/run_record.h"

namespace ratchet::chaos {

// An <svg> element; its colours are classes that the page's style defines. Empty when nothing happened.
[[nodiscard]] std::string DrawTimeline(const RunRecord& run);

// & < > " as entities.
[[nodiscard]] std::string EscapeHtml(std::string_view text);

}  // namespace ratchet::chaos
