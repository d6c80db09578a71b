// Settings of the master's logic. Each part declares its settings in its struct: `Bind` gives each member its name,
// help, HBase's names and range. `Settings` is ratchet::Settings (common/base/config.h), which only the process
// includes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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

  template <class Settings>
  void Bind(Settings& settings) {
    settings.AddMillis(
        {"auto-split-interval-ms",
         "Interval of the checks for regions of one server that have grown too large; 0: no splits by size.",
         {}},
        &interval, Millis(0), Millis(86'400'000));
    settings.AddBytes({"region-max-file-bytes",
                       "Size of store files above which a region is split, for tables without MAX_FILESIZE.",
                       {"hbase.hregion.max.filesize"}},
                      &policy.max_bytes, 1u << 20, 1ull << 50);
    settings.AddText({"region-split-policy",
                      "Split policy of tables without SPLIT_POLICY: a class of HBase, with or without its package.",
                      {"hbase.regionserver.region.split.policy"}},
                     &policy.policy);
    settings.AddBytes({"region-split-initial-bytes",
                       "Initial size for policies that begin with smaller regions; 0: twice --region-flush-bytes.",
                       {"hbase.increasing.policy.initial.size"}},
                      &policy.initial_bytes, 0, 1ull << 50);
    settings.AddBytes({"region-flush-bytes",
                       "Value of the region servers' --memstore-flush-bytes, for tables without MEMSTORE_FLUSHSIZE.",
                       {"hbase.hregion.memstore.flush.size"}},
                      &policy.flush_bytes, 4096, 1ull << 36);
    settings.AddInt({"auto-splits-at-once", "Maximum number of concurrent splits by size in the whole cluster.", {}},
                    &at_once, {1, 1000});
  }
};

struct BalancerOptions {
  // "simple" counts regions (balance_plan.h), "stochastic" weighs them (stochastic_plan.h)
  std::string kind = "simple";
  BalanceWeights weights;                // of the stochastic balancer
  Live<double> least_gain{0.01};         // minimum share of the cost that an automatic plan must save, unless IsUneven
  Live<Millis> period{Millis{300'000}};  // between two automatic checks; 0: balances only on request
  Live<double> slop{0.2};                // allowed deviation of IsUneven
  MoveLimits limits;

  [[nodiscard]] bool counts() const { return kind == "simple"; }

  template <class Settings>
  void Bind(Settings& settings) {
    settings.AddText(
        {"balancer",
         "Goal of the balancer: 'simple' evens the number of regions of each server and table; 'stochastic' "
         "also evens requests and sizes, by the weights.",
         {}},
        &kind, {}, {"simple", "stochastic"});
    const auto weight = [&settings](const char* name, const char* what, const char* in_hbase, double* target) {
      settings.AddDouble({name, std::string("Stochastic balancer: weight of ") + what + ".", {in_hbase}}, target, 0.0,
                         1e6);
    };
    weight("balancer-weight-regions", "the servers' numbers of regions",
           "hbase.master.balancer.stochastic.regionCountCost", &weights.regions);
    weight("balancer-weight-tables", "each table's spread over the servers",
           "hbase.master.balancer.stochastic.tableSkewCost", &weights.table_skew);
    weight("balancer-weight-requests", "requests per second", "hbase.master.balancer.stochastic.readRequestCost",
           &weights.requests);
    weight("balancer-weight-bytes", "sizes of store files", "hbase.master.balancer.stochastic.storefileSizeCost",
           &weights.bytes);
    weight("balancer-weight-moves", "the moves of a plan", "hbase.master.balancer.stochastic.moveCost", &weights.moves);
    settings.AddDouble({"balancer-least-gain",
                        "Minimum reduction of the cost (0 to 1) for an automatic plan of the stochastic balancer.",
                        {"hbase.master.balancer.stochastic.minCostNeedBalance"}},
                       &least_gain, 0.0, 1.0);
    settings.AddMillis(
        {"balancer-period-ms",
         "Interval of the balancer's checks; it also checks when a server joins. 0: it moves regions only on request.",
         {"hbase.balancer.period"}},
        &period, Millis(0), Millis(86'400'000));
    settings.AddDouble({"balancer-slop",
                        "Allowed deviation of a server's number of regions from the average, as a fraction; automatic "
                        "moves start beyond it.",
                        {"hbase.regions.slop"}},
                       &slop, 0.0, 10.0);
    settings.AddInt({"balancer-moves-at-once", "Maximum number of concurrent moves.", {}}, &limits.at_once,
                    {1, 10'000});
    settings.AddDouble({"balancer-table-share",
                        "Maximum share of a table's regions that the balancer moves concurrently; at least one region.",
                        {}},
                       &limits.table_share, 0.0, 1.0);
  }
};

struct NormalizerOptions {
  Live<Millis> period{Millis{300'000}};  // between two checks; 0: only on request
  Live<std::int64_t> at_once{8};         // splits and merges of one check

  template <class Settings>
  void Bind(Settings& settings) {
    settings.AddMillis({"normalizer-period-ms",
                        "Interval of the normalizer's checks while it is switched on; 0: only on request.",
                        {"hbase.normalizer.period"}},
                       &period, Millis(0), Millis(86'400'000));
    settings.AddInt(
        {"normalizer-steps-at-once", "Maximum number of splits and merges of one check of the normalizer.", {}},
        &at_once, {1, 1000});
  }
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
  // Regions that one procedure opens on one server (assign_batch.h), at most; 1: each region has its own procedure.
  Live<std::int64_t> batch_most{1'000};
  Live<std::int64_t> batch_least{8};    // fewer regions have procedures of their own
  std::size_t batch_bytes = 1U << 20U;  // size of a batch's order
  std::size_t splits_per_server = 2;    // log files that one server splits concurrently
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
  // Set by the process. While users are judged, who creates a table owns it, with every right, and nonces belong to
  // their user.
  std::function<bool()> judges_users = [] { return false; };
  Live<Millis> token_lifetime{Millis{7LL * 86'400'000}};
  Live<Millis> token_key_roll{Millis{86'400'000}};  // age at which the next token makes another key
  std::string snapshot_export_dir;  // exports and imports of snapshots use directories below it; empty: disabled

  template <class Settings>
  void Bind(Settings& settings) {
    settings.AddBool(
        {"table-sanity-checks",
         "Refuse tables with sizes, times and classes that HBase's sanity checks refuse; false: only log them.",
         {"hbase.table.sanity.checks"}},
        &table_sanity_checks);
    settings.AddBool({"quota-table-at-start",
                      "Create the table hbase:quota at the start; false: with the first quota. Quotas work either way.",
                      {"hbase.quota.enabled"}},
                     &quota_table_at_start);
    settings.AddMillis({"token-lifetime-ms",
                        "Time for which a token is valid; it does not change tokens that were issued before.",
                        {"hbase.auth.token.max.lifetime"}},
                       &token_lifetime, Millis(1'000), Millis(365LL * 86'400'000));
    settings.AddMillis({"token-key-roll-ms",
                        "Age of the key of tokens at which another one is made.",
                        {"hbase.auth.key.update.interval"}},
                       &token_key_roll, Millis(1'000), Millis(365LL * 86'400'000));
    settings.AddMillis(
        {"order-resend-ms", "Time after which an unanswered order to a region server is sent again.", {}},
        &order_resend, Millis(100), Millis(600'000));
    settings.AddInt({"assign-batch-regions",
                     "Maximum number of regions that one procedure opens on one server; 1: each region has a procedure "
                     "of its own.",
                     {}},
                    &batch_most, {1, 1'000});
    settings.AddInt(
        {"assign-batch-least",
         "Minimum number of regions for one server that one procedure opens; fewer have procedures of their "
         "own.",
         {}},
        &batch_least, {2, 1'000});
    settings.AddMillis(
        {"retain-wait-ms",
         "After a restart of the whole cluster: how long a server's regions wait for a new server at its "
         "address before they are assigned elsewhere.",
         {}},
        &retain_wait, Millis(0), Millis(3'600'000));
    settings.AddMillis({"catalog-janitor-interval-ms",
                        "Interval of the checks for split or merged regions that are no longer needed, up to 100 per "
                        "check; 0: with every sweep of the master, every few seconds.",
                        {"hbase.catalogjanitor.interval"}},
                       &reconciler.janitor_interval, Millis(0), Millis(86'400'000));
    settings.AddMillis({"region-state-grace-ms",
                        "The master compares a region's state with heartbeats and hbase:meta only if the state has not "
                        "changed for this long.",
                        {}},
                       &reconciler.grace, Millis(0), Millis(600'000));
    auto_split.Bind(settings);
    balancer.Bind(settings);
    normalizer.Bind(settings);
    settings.AddMillis(
        {"replication-wait-ms",
         "Time after which entries that a replication peer has not received are shown as a problem; their "
         "logs are kept without limit.",
         {"hbase.master.replication.wait"}},
        &replication_wait, Millis(1), Millis(604'800'000));
    settings.AddText({"snapshot-export-dir",
                      "Directory for exports and imports of snapshots, an absolute path that all masters see; empty: "
                      "both are disabled.",
                      {}},
                     &snapshot_export_dir);
  }
};

}  // namespace ratchet::master
