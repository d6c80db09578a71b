// Procedures and their steps in Chrome's trace-event format, which viewers of files (Perfetto, speedscope) show without
// a collector or a server. Pure.
//
// Each procedure is a row, parents before their children: its whole life, and below it its steps, which do not overlap.
// An arrow leads from a parent to each child.
#pragma once

#include <string>
#include <vector>

#include "common/ops/trace/otlp.h"

namespace ratchet::trace {

// One JSON object, as one line without its end. An unfinished procedure ends at its last recorded time.
[[nodiscard]] std::string ToChrome(const Source& source, const std::vector<pb::EndedProcedure>& procedures);

}  // namespace ratchet::trace
