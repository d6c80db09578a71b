// Settings of the master's logic. The shell fills them from its configuration.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/base/backoff.h"
#include "common/base/clock.h"

namespace ratchet::master {

// How heartbeats are compared with the master's picture (control/online_watch.h).
struct ReconcilerOptions {
  Millis janitor_interval{0};       // between two looks for regions that were split or merged; 0: at every sweep
  Millis grace{1'000};              // a picture younger than this is not disagreed with
  std::uint32_t strikes = 3;        // consecutive contradicting heartbeats before the server is expired
  std::size_t looks_in_turn = 256;  // regions that a heartbeat looks at although nothing has changed, of the list and
                                    // of the picture each
};

struct MasterOptions {
  std::uint64_t seed = 1;       // of placement
  Millis order_resend{10'000};  // an order without an answer is sent again after this long (S20)
  BackoffPolicy retry{Millis{50}, Millis{10'000}, 2.0, 0.1};  // meta writes, splits
  // A region that a server refused to open is tried elsewhere at once this often, then with `retry`'s delays.
  std::uint32_t immediate_open_attempts = 3;
  // From this many refusals in a row the region shows as FAILED_OPEN while it goes on trying at the longest delay.
  std::uint32_t failed_open_shown_after = 10;
  std::size_t splits_per_server = 2;  // log files that one server splits at a time
  bool table_sanity_checks = true;    // of descriptors (table_sanity.h)
  // ReopenTableRegions opens one region again, then two, then four, up to so many at a time.
  std::uint32_t reopen_batch_most = 64;
  ReconcilerOptions reconciler;
};

}  // namespace ratchet::master
