// The operating system's metrics of this process, under the names that Prometheus' own libraries use.
#pragma once

#include "common/metrics/exposition.h"

namespace ratchet::metrics {

// process_cpu_seconds_total, process_resident_memory_bytes, process_open_fds, process_max_fds, process_threads,
// process_start_time_seconds. Values that cannot be read are left out. Costs a few system calls.
void AddProcess(MetricsText& text);

}  // namespace ratchet::metrics
