// Draws a run over time: traffic above, one row per kind of fault below. Pure.
#pragma once

#include <string>
#include <string_view>

#include "chaos/report/run_record.h"

namespace ratchet::chaos {

// Returns an <svg> element; its colours are classes of the page's style. Returns an empty string when there was no
// event.
[[nodiscard]] std::string DrawTimeline(const RunRecord& run);

// Replaces & < > " by entities.
[[nodiscard]] std::string EscapeHtml(std::string_view text);

}  // namespace ratchet::chaos
