// The report in its three forms. Pure: the same run always gives the same bytes.
#pragma once

#include <string>

#include "chaos/report/run_record.h"

namespace ratchet::chaos {

// Returns the text for a console: the table of recoveries, the findings, the guards, the verdict.
[[nodiscard]] std::string RenderText(const RunRecord& run);
// Returns all data, for programs; field names as in docs/chaos.md.
[[nodiscard]] std::string RenderJson(const RunRecord& run);
// Returns one self-contained page without scripts, fonts or images from elsewhere; light or dark as the reader's
// system.
[[nodiscard]] std::string RenderHtml(const RunRecord& run);

}  // namespace ratchet::chaos
