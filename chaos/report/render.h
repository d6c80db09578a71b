// The report in its three forms. Pure: the same run always gives the same bytes.
#pragma once

#include <string>

#include "chaos/report/run_record.h"

namespace ratchet::chaos {

// For a console: the table of recoveries, what was looked at, the guards, the verdict.
[[nodiscard]] std::string RenderText(const RunRecord& run);
// Everything, for programs; field names as in docs/chaos.md.
[[nodiscard]] std::string RenderJson(const RunRecord& run);
// One page that needs nothing else: no script, no font, no image from anywhere; light and dark as the reader's system
// is.
[[nodiscard]] std::string RenderHtml(const RunRecord& run);

}  // namespace ratchet::chaos
