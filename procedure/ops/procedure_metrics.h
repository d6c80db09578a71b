// The counters of an executor and its store, for /metrics (docs/metrics.md). Copies; nothing waits for a step or the
// disk.
#pragma once

#include <cstdint>

#include "common/metrics/exposition.h"
#include "procedure/api/executor.h"
#include "procedure/api/store.h"

namespace ratchet::host {

// `stuck_attempts`: a step that was tried more often than this is stuck.
void AddProcedures(metrics::MetricsText& text, const procedure::Executor& executor, std::uint32_t stuck_attempts);
void AddStore(metrics::MetricsText& text, const procedure::StoreMetrics& store, bool admits);

}  // namespace ratchet::host
