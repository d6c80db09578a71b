// Procedures and their steps as spans, in the JSON mapping of OpenTelemetry's protocol (OTLP). Pure.
//
// A procedure is a span, its parent's span is above it, and each of its steps is a span below it. A trace is a tree of
// procedures; its id follows from the cluster's id and the root's pid, and a span's id from these, the pid and the
// number of the step. So whichever process prints a span, under whichever master, it is the same span.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/model/proto/history.pb.h"

namespace ratchet::trace {

struct Source {
  std::string cluster_id;
  std::map<std::uint64_t, std::string> masters{};  // by epoch, as far as they are known
};

// "rs1,16020,17" of "table=t, server=rs1,16020,17; ...", a procedure's text: a name has two commas of its own. Empty:
// it names none.
[[nodiscard]] std::string_view ServerInText(std::string_view text);
// 32 hex digits, never all zero.
[[nodiscard]] std::string TraceId(std::string_view cluster_id, std::uint64_t root);
// 16 hex digits, never all zero. `step` 0: the procedure itself; from 1: its steps.
[[nodiscard]] std::string SpanId(std::string_view cluster_id, std::uint64_t pid, std::uint64_t step);

// One ExportTraceServiceRequest, as one line without its end. An unfinished procedure ends where it has got to.
[[nodiscard]] std::string ToOtlp(const Source& source, const std::vector<pb::EndedProcedure>& procedures);

}  // namespace ratchet::trace
