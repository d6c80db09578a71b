// Settings of the master's logic. The shell fills them from its configuration.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/base/backoff.h"
#include "common/base/clock.h"
#include "common/base/live.h"
#include "master/state/balance_plan.h"
#include "master/state/split_policy.h"
#include "master/state/stochastic_plan.h"

namespace ratchet::master {

// How heartbeats are compared with the master's picture (control/online_watch.h).
struct ReconcilerOptions {
  Live<Millis> janitor_interval{
      Millis{0}};                   // between two looks for regions that were split or merged; 0: at every sweep
  Millis grace{1'000};              // a picture younger than this is not disagreed with
  std::uint32_t strikes = 3;        // consecutive contradicting heartbeats before the server is expired
  std::size_t looks_in_turn = 256;  // regions that a heartbeat looks at although nothing has changed, of the list and
                                    // of the picture each
};

// Splits by size (control/auto_splitter.h).
struct AutoSplitOptions {
  Live<Millis> interval{
      Millis{10'000}};            // between two looks at the reports of one server; 0: regions are never split by size
  Live<std::int64_t> at_once{4};  // in the whole cluster
  Millis after_failure{300'000};  // a region whose split failed is left alone for so long
  SplitPolicyOptions policy;
};

enum class BalancerKind { kSimple, kStochastic };

struct BalancerOptions {
  BalancerKind kind = BalancerKind::kSimple;  // counts regions (balance_plan.h), or weighs them (stochastic_plan.h)
  BalanceWeights weights;                     // of the stochastic one
  Live<double> least_gain{0.01};              // it moves something by itself for so much of its cost, or where IsUneven
  Live<Millis> period{Millis{300'000}};  // between two looks of its own; 0: it moves something only when it is asked to
  Live<double> slop{0.2};                // what IsUneven allows
  MoveLimits limits;
};

struct NormalizerOptions {
  Live<Millis> period{Millis{300'000}};  // between two looks; 0: only when it is asked to
  Live<std::int64_t> at_once{8};         // splits and merges of one look
};

struct MasterOptions {
  std::uint64_t seed = 1;                     // of placement
  Live<Millis> order_resend{Millis{10'000}};  // an order without an answer is sent again after this long (S20)
  BackoffPolicy retry{Millis{50}, Millis{10'000}, 2.0, 0.1};  // meta writes, splits
  // A region that a server refused to open is tried elsewhere at once this often, then with `retry`'s delays.
  std::uint32_t immediate_open_attempts = 3;
  // From this many refusals in a row the region shows as FAILED_OPEN while it goes on trying at the longest delay.
  std::uint32_t failed_open_shown_after = 10;
  std::size_t splits_per_server = 2;  // log files that one server splits at a time
  // After a restart of the whole cluster a dead server's regions wait so long for the next one at its address.
  Live<Millis> retain_wait{Millis{3'000}};
  Live<bool> table_sanity_checks{true};  // of descriptors (table_sanity.h)
  bool quota_table_at_start = false;     // otherwise the first change of a quota has it made
  // ReopenTableRegions opens one region again, then two, then four, up to so many at a time.
  std::uint32_t reopen_batch_most = 64;
  ReconcilerOptions reconciler;
  AutoSplitOptions auto_split;
  BalancerOptions balancer;
  NormalizerOptions normalizer;
  // What a peer has not got for so long is shown as a problem: logs are kept for it.
  Millis replication_wait{600'000};
  std::string snapshot_export_dir;  // snapshots are exported to and imported from directories below it; empty: neither
};

}  // namespace ratchet::master
