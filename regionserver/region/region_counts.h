// Counts the work of all regions of this process since its start. They include regions that have left, whose own
// counters are gone. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>

#include "common/base/latency.h"

namespace ratchet::regionserver {

struct RegionCounts {
  std::atomic<std::uint64_t> gets{0};
  std::atomic<std::uint64_t> scans{0};          // scans begun here, including those that continue after a move
  std::atomic<std::uint64_t> scanned_rows{0};   // rows looked at, including filtered ones
  std::atomic<std::uint64_t> files_of_rows{0};  // store files of the region, summed over all reads of one row
  std::atomic<std::uint64_t> files_skipped{0};  // of these, files whose row filter excluded the row
  std::atomic<std::uint64_t> mutations{0};      // atomic units: one row, or several rows together
  std::atomic<std::uint64_t> failed_mutations{0};
  Latency mutate;   // from the request to the durable entry, including waits for row locks; a batch counts once
  Latency check;    // CHECK before an answer from a region's data (S24: visible after sync)
  Latency flush;    // flushes with data to write
  Latency compact;  // compactions with files to merge
  std::atomic<std::uint64_t> failed_flushes{0};
  std::atomic<std::uint64_t> failed_compactions{0};

  // Returns the counters of this process; they are never freed.
  [[nodiscard]] static RegionCounts& OfProcess() {
    static auto* const counts = new RegionCounts;
    return *counts;
  }
};

}  // namespace ratchet::regionserver
