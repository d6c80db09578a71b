// Settings of the master's logic. The shell fills them from its configuration.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/base/backoff.h"
#include "common/base/clock.h"
#include "common/base/live.h"
#include "master/policy/balance_plan.h"
#include "master/policy/split_policy.h"
#include "master/policy/stochastic_plan.h"

namespace ratchet::master {

// Comparison of heartbeats with the master's in-memory state (master/repair/online_watch.h).
struct ReconcilerOptions {
  Live<Millis> janitor_interval{Millis{0}};  // between two searches for split or merged regions; 0: at every sweep
  Millis grace{1'000};                       // ignore mismatches with state that changed more recently
  std::uint32_t strikes = 3;                 // consecutive contradicting heartbeats before the server is expired
  // unchanged regions that a heartbeat checks, of the list and of the in-memory state each
  std::size_t looks_in_turn = 256;
};

// Splits by size (master/chores/auto_splitter.h).
struct AutoSplitOptions {
  Live<Millis> interval{
      Millis{10'000}};            // between two checks of one server's reports; 0: regions are never split by size
  Live<std::int64_t> at_once{4};  // concurrent splits in the whole cluster
  Millis after_failure{300'000};  // pause for a region whose split failed
  SplitPolicyOptions policy;
};

enum class BalancerKind { kSimple, kStochastic };

struct BalancerOptions {
  // kSimple counts regions (balance_plan.h), kStochastic weighs them (stochastic_plan.h)
  BalancerKind kind = BalancerKind::kSimple;
  BalanceWeights weights;                // of the stochastic balancer
  Live<double> least_gain{0.01};         // minimum share of the cost that an automatic plan must save, unless IsUneven
  Live<Millis> period{Millis{300'000}};  // between two automatic checks; 0: balances only on request
  Live<double> slop{0.2};                // allowed deviation of IsUneven
  MoveLimits limits;
};

struct NormalizerOptions {
  Live<Millis> period{Millis{300'000}};  // between two checks; 0: only on request
  Live<std::int64_t> at_once{8};         // splits and merges of one check
};

struct MasterOptions {
  std::uint64_t seed = 1;  // seed of placement
  // an order without an answer is sent again after this long (S20: answers are repeated)
  Live<Millis> order_resend{Millis{10'000}};
  BackoffPolicy retry{Millis{50}, Millis{10'000}, 2.0, 0.1};  // meta writes, splits
  // Number of immediate retries on other servers after refusals to open a region; later retries use the delays of
  // `retry`.
  std::uint32_t immediate_open_attempts = 3;
  // After this number of refusals in a row the region is shown as FAILED_OPEN; retries continue at the longest delay.
  std::uint32_t failed_open_shown_after = 10;
  std::size_t splits_per_server = 2;  // log files that one server splits concurrently
  // After a restart of the whole cluster, how long a dead server's regions wait for a new server at its address.
  Live<Millis> retain_wait{Millis{3'000}};
  Live<bool> table_sanity_checks{true};  // checks of descriptors (table_sanity.h)
  bool quota_table_at_start = false;     // false: the first change of a quota creates the table
  // Maximum batch of ReopenTableRegions, which reopens one region, then two, then four, up to this number at a time.
  std::uint32_t reopen_batch_most = 64;
  ReconcilerOptions reconciler;
  AutoSplitOptions auto_split;
  BalancerOptions balancer;
  NormalizerOptions normalizer;
  // Entries that a peer has not received for this long are shown as a problem, because logs are kept for them.
  Millis replication_wait{600'000};
  std::string snapshot_export_dir;  // exports and imports of snapshots use directories below it; empty: disabled
};

}  // namespace ratchet::master
