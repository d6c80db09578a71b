// Procedures and their steps as spans, in the JSON mapping of OpenTelemetry's protocol (OTLP). Pure.
//
// A procedure is a span, its parent's span is above it, and each of its steps is a span below it. A trace is a tree of
// procedures. Its id follows from the cluster's id and the root's pid; a span's id also from its pid and the number of
// the step. So every process, under every master, prints the same span with the same id.
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
  std::map<std::uint64_t, std::string> masters{};  // by epoch, if known
};

// The server that a procedure's description names; empty: none.
[[nodiscard]] std::string_view ServerOf(const pb::ProcedureInfo& info);
// The master of the epoch; empty: unknown.
[[nodiscard]] std::string MasterOf(const Source& source, const pb::EndedProcedure& ended, std::uint64_t epoch);
// 32 hex digits, never all zero.
[[nodiscard]] std::string TraceId(std::string_view cluster_id, std::uint64_t root);
// 16 hex digits, never all zero. `step` 0: the procedure itself; from 1: its steps.
[[nodiscard]] std::string SpanId(std::string_view cluster_id, std::uint64_t pid, std::uint64_t step);

// One ExportTraceServiceRequest, as one line without its end. An unfinished procedure ends at its last recorded time.
[[nodiscard]] std::string ToOtlp(const Source& source, const std::vector<pb::EndedProcedure>& procedures);

}  // namespace ratchet::trace
