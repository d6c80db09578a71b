// What all regions of this process have done since it began, those included that have left it: what a region counts of
// itself goes with it. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>

#include "common/base/latency.h"

namespace ratchet::regionserver {

struct RegionCounts {
  std::atomic<std::uint64_t> gets{0};
  std::atomic<std::uint64_t> scans{0};         // begun, and gone on with after a move
  std::atomic<std::uint64_t> scanned_rows{0};  // looked at, also those that a filter left out
  std::atomic<std::uint64_t> mutations{0};     // atomic ones: a row, or the rows of one unit
  std::atomic<std::uint64_t> failed_mutations{0};
  Latency mutate;   // from the request to the durable entry, waiting for row locks included; of a batch as one
  Latency check;    // CHECK before an answer from a region's data (S24)
  Latency flush;    // those that had something to write
  Latency compact;  // those that had something to merge
  std::atomic<std::uint64_t> failed_flushes{0};
  std::atomic<std::uint64_t> failed_compactions{0};

  // Of this process; never freed.
  [[nodiscard]] static RegionCounts& OfProcess() {
    static auto* const counts = new RegionCounts;
    return *counts;
  }
};

}  // namespace ratchet::regionserver
