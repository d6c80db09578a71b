#include "master/process/master_config.h"

namespace ratchet::master {
namespace {

void BindPlace(Settings& settings, MasterConfig& config) {
  settings.AddText({"root", "Directory that all processes of the cluster share.", {"hbase.rootdir"}}, &config.root);
  settings.AddText({"zookeeper", "ZooKeeper's servers, host:port,host:port.", {"hbase.zookeeper.quorum"}},
                   &config.zookeeper);
  settings.AddText({"zk-parent", "Node below which the cluster registers.", {"zookeeper.znode.parent"}},
                   &config.zk_parent);
  settings.AddMillis({"zk-session-ms",
                      "How long ZooKeeper waits for a silent master before a standby takes over.",
                      {"zookeeper.session.timeout"}},
                     &config.zk_session, Millis(200), Millis(600'000));
  settings.AddMillis({"zk-connect-timeout-ms", "How long to try to reach ZooKeeper at the start.", {}},
                     &config.zk_connect_timeout, Millis(100), Millis(3'600'000));
  settings.AddText(
      {"host", "Name or address under which others reach this master, and to listen on.", {"hbase.master.hostname"}},
      &config.host);
  settings.AddInt({"port", "Port at which others reach this master, and to listen on.", {"hbase.master.port"}},
                  &config.port, {1, 65'535});
  settings.AddInt({"listen-port", "Port to listen on when others come through a proxy at --port; 0: the same.", {}},
                  &config.listen_port, {0, 65'535});
  settings.AddInt(
      {"info-port",
       "Port of the page and of /metrics; 0: any free one, which the log and the cluster's status tell; -1: "
       "neither.",
       {"hbase.master.info.port"}},
      &config.info_port, {-1, 65'535});
  settings.AddText({"info-host",
                    "Address to listen on for them. They show everything to each reader, and change nothing.",
                    {"hbase.master.info.bindAddress"}},
                   &config.info_host);
  settings.AddText({"log-file", "Where log lines go; standard error when empty.", {}}, &config.log_file);
  settings.AddText({"log-level", "Least severe level that is logged.", {}}, &config.log_level, Presence::kOptional,
                   {"debug", "info", "warn", "error"});
  settings.AddText({"storage-client",
                    "Name of this process's own client of the storage, which a later master may evict (CephFS: "
                    "client.NAME); empty: none.",
                    {}},
                   &config.storage_client);
  settings.AddText({"fence-command",
                    "Program that makes the storage give up a dead process's client, called with its name and session: "
                    "for CephFS scripts/ceph/evict. Empty: the storage's own time-out decides.",
                    {}},
                   &config.fence_command);
  settings.AddMillis({"fence-command-timeout-ms", "After which the fence command is ended, and tried again.", {}},
                     &config.fence_command_timeout, Millis(100), Millis(600'000));
  settings.AddText(
      {"storage-proof",
       "When a look at a name is proven by a round trip to the storage (S101): detect (FUSE and CephFS, whose "
       "clients cache names), always, never.",
       {}},
      &config.storage_proof, Presence::kOptional, {"detect", "always", "never"});
  settings.AddBool(
      {"start-again",
       "Come again by itself, as a new master, after a lost session, a fence or storage that hangs; false where a "
       "supervisor starts it again.",
       {}},
      &config.start_again);
  settings.AddBool(
      {"allow-fault-points",
       "Let RATCHET_FAULTS arm fault points in this process, for tests and the chaos driver; `ratchet status` says so.",
       {}},
      &config.allow_fault_points);
  settings.AddBool({"publish-client-znodes",
                    "Publish meta-region-server in ZooKeeper for clients that can find meta only there.",
                    {}},
                   &config.publish_client_znodes);
  settings.AddBool(
      {"adopt-zookeeper",
       "Give this place in ZooKeeper to the cluster of --root although it carries another cluster's id, or none: for a "
       "ZooKeeper that was lost. Once; leave it out afterwards.",
       {}},
      &config.adopt_zookeeper);
  settings.AddBool({"start-paused",
                    "Begin with every procedure paused, crash handling included, until `ratchet resume everything`.",
                    {}},
                   &config.start_paused);
  settings.AddBool(
      {"table-sanity-checks",
       "Refuse tables with sizes, times and classes that HBase's sanity checks refuse; false: only log them.",
       {"hbase.table.sanity.checks"}},
      &config.table_sanity_checks);
  settings.AddBool(
      {"quota-table-at-start",
       "Make the table hbase:quota at the start; false: with the first quota that is set. Quotas work either way.",
       {"hbase.quota.enabled"}},
      &config.quota_table_at_start);
  settings.AddBool({"list-steps", "Print every procedure type with its steps, and end.", {}}, &config.list_steps);
  settings.AddText({"replay",
                    "Say which procedures of the store in this directory (a root, or its 'procedures') this program "
                    "would not go on with, and end: the check before an upgrade. Nothing is changed. Code 3: there "
                    "are some; code 2: the store cannot be read.",
                    {}},
                   &config.replay);
  settings.AddBool({"json", "With --list-steps or --replay: as JSON.", {}}, &config.json);
}

void BindBalancer(Settings& settings, MasterConfig& config) {
  BalancerOptions& balancer = config.balancer;
  settings.AddText(
      {"balancer",
       "What the balancer makes even: 'simple' the number of regions of each server and table; 'stochastic' also what "
       "they are asked and how large they are, as the weights say.",
       {}},
      &config.balancer_kind, Presence::kOptional, {"simple", "stochastic"});
  const auto weight = [&settings](const char* name, const char* what, const char* in_hbase, double* target) {
    settings.AddDouble({name, fmt::format("Of the stochastic balancer: the weight of {}.", what), {in_hbase}}, target,
                       0.0, 1e6);
  };
  BalanceWeights& weights = balancer.weights;
  weight("balancer-weight-regions", "the servers' numbers of regions",
         "hbase.master.balancer.stochastic.regionCountCost", &weights.regions);
  weight("balancer-weight-tables", "each table's spread over the servers",
         "hbase.master.balancer.stochastic.tableSkewCost", &weights.table_skew);
  weight("balancer-weight-requests", "requests a second", "hbase.master.balancer.stochastic.readRequestCost",
         &weights.requests);
  weight("balancer-weight-bytes", "sizes of store files", "hbase.master.balancer.stochastic.storefileSizeCost",
         &weights.bytes);
  weight("balancer-weight-moves", "the moves of a plan", "hbase.master.balancer.stochastic.moveCost", &weights.moves);
  settings.AddDouble(
      {"balancer-least-gain",
       "The stochastic balancer moves something by itself where that lowers the cost (0 to 1) by so much.",
       {"hbase.master.balancer.stochastic.minCostNeedBalance"}},
      &balancer.least_gain, 0.0, 1.0);
  settings.AddMillis({"balancer-period-ms",
                      "The balancer looks over the servers so often, and whenever one has come; 0: it moves regions "
                      "only when it is asked to.",
                      {"hbase.balancer.period"}},
                     &balancer.period, Millis(0), Millis(86'400'000));
  settings.AddDouble({"balancer-slop",
                      "By itself it moves regions only where a server has more or fewer than this part of the average.",
                      {"hbase.regions.slop"}},
                     &balancer.slop, 0.0, 10.0);
  settings.AddInt({"balancer-moves-at-once", "Regions that it moves at the same time.", {}}, &balancer.limits.at_once,
                  {1, 10'000});
  settings.AddDouble(
      {"balancer-table-share", "Part of a table's regions that it moves at the same time; one of them always.", {}},
      &balancer.limits.table_share, 0.0, 1.0);
}

void BindNormalizer(Settings& settings, NormalizerOptions& normalizer) {
  settings.AddMillis({"normalizer-period-ms",
                      "The normalizer, while it is switched on, looks over the tables so often; 0: only when it is "
                      "asked to.",
                      {"hbase.normalizer.period"}},
                     &normalizer.period, Millis(0), Millis(86'400'000));
  settings.AddInt({"normalizer-steps-at-once", "Splits and merges of one look of the normalizer.", {}},
                  &normalizer.at_once, {1, 1000});
}

void BindSplits(Settings& settings, AutoSplitOptions& splits) {
  settings.AddMillis({"auto-split-interval-ms",
                      "Time between two looks for regions of one server that have grown too large; 0: none is split "
                      "by its size.",
                      {}},
                     &splits.interval, Millis(0), Millis(86'400'000));
  settings.AddBytes({"region-max-file-bytes",
                     "Size of store files above which a region is split, of tables without MAX_FILESIZE.",
                     {"hbase.hregion.max.filesize"}},
                    &splits.policy.max_bytes, 1u << 20, 1ull << 50);
  settings.AddText({"region-split-policy",
                    "Policy of tables without SPLIT_POLICY: a class of HBase's, with or without its package.",
                    {"hbase.regionserver.region.split.policy"}},
                   &splits.policy.policy);
  settings.AddBytes({"region-split-initial-bytes",
                     "Where the policy begins with smaller regions: this size; 0: twice --region-flush-bytes.",
                     {"hbase.increasing.policy.initial.size"}},
                    &splits.policy.initial_bytes, 0, 1ull << 50);
  settings.AddBytes({"region-flush-bytes",
                     "What region servers take for --memstore-flush-bytes, of tables without MEMSTORE_FLUSHSIZE.",
                     {"hbase.hregion.memstore.flush.size"}},
                    &splits.policy.flush_bytes, 4096, 1ull << 36);
  settings.AddInt({"auto-splits-at-once", "Splits by size that run at the same time in the whole cluster.", {}},
                  &splits.at_once, {1, 1000});
}

void BindWork(Settings& settings, MasterConfig& config) {
  settings.AddInt({"procedure-threads",
                   "Workers that run procedures; one more is kept for meta and crash handling.",
                   {"hbase.master.procedure.threads"}},
                  &config.workers, {1, 1000});
  settings.AddInt({"procedure-steps-per-table",
                   "Steps of procedures of one table (its regions' count for it) that run at a time; more wait in "
                   "line. 0: no limit.",
                   {}},
                  &config.steps_per_table, {0, 1000});
  settings.AddInt({"procedure-steps-per-server",
                   "The same for one region server. Crash handling is never limited. 0: no limit.",
                   {}},
                  &config.steps_per_server, {0, 1000});
  settings.AddInt({"procedure-steps-per-peer", "The same for one replication peer. 0: no limit.", {}},
                  &config.steps_per_peer, {0, 1000});
  settings.AddInt({"handlers", "Threads that answer clients.", {"hbase.regionserver.handler.count"}}, &config.handlers,
                  {1, 1000});
  settings.AddInt({"report-handlers", "Threads that take region servers' reports.", {"hbase.master.handler.count"}},
                  &config.report_handlers, {1, 1000});
  settings.AddInt({"queue-length",
                   "Requests that may wait for a thread; more are refused as too busy.",
                   {"hbase.ipc.server.max.callqueue.length"}},
                  &config.queue_length, {1, 1'000'000});
  settings.AddMillis({"meta-rpc-timeout-ms", "Of one request to hbase:meta; it is repeated.", {}},
                     &config.meta.rpc_timeout, Millis(100), Millis(600'000));
  settings.AddMillis(
      {"order-resend-ms", "An order to a region server without an answer is sent again after this long.", {}},
      &config.order_resend, Millis(100), Millis(600'000));
  settings.AddMillis(
      {"retry-max-ms",
       "Longest pause between two tries of a procedure's step: so much later than need be it may go on when what it "
       "waited for is back.",
       {}},
      &config.retry_max, Millis(100), Millis(600'000));
  settings.AddMillis({"retain-wait-ms",
                      "After a restart of the whole cluster: for how long the regions of a server wait for the next "
                      "one at its address, before they go elsewhere.",
                      {}},
                     &config.retain_wait, Millis(0), Millis(3'600'000));
  settings.AddMillis({"catalog-janitor-interval-ms",
                      "Time between two looks for regions that were split or merged and are needed no more, each for "
                      "100 of them at most; 0: whenever the master looks over its regions, every few seconds.",
                      {"hbase.catalogjanitor.interval"}},
                     &config.catalog_janitor_interval, Millis(0), Millis(86'400'000));
  settings.AddMillis(
      {"cleaner-interval-ms", "Time between two runs of the archive's cleaner.", {"hbase.master.cleaner.interval"}},
      &config.cleaner_interval, Millis(100), Millis(86'400'000));
  settings.AddMillis({"archive-ttl-ms",
                      "How long archived directories stay before the cleaner deletes them.",
                      {"hbase.master.hfilecleaner.ttl"}},
                     &config.archive_ttl, Millis(0), Millis(86'400'000));
  settings.AddMillis({"max-clock-skew-ms",
                      "A region server whose clock is further from this master's may not register.",
                      {"hbase.master.maxclockskew"}},
                     &config.clocks.refused, Millis(1), Millis(86'400'000));
  settings.AddText({"oldest-server-version", "A region server of an older version may not register.", {}},
                   &config.oldest_server_version, Presence::kOptional);
  settings.AddMillis({"warning-clock-skew-ms",
                      "A region server whose clock is further from this master's is shown as a problem.",
                      {"hbase.master.warningclockskew"}},
                     &config.clocks.warning, Millis(1), Millis(86'400'000));
  settings.AddMillis({"remote-lock-timeout-ms",
                      "A lock of a client goes when no heartbeat has come for this long.",
                      {"hbase.master.procedure.remote.locks.timeout.ms"}},
                     &config.remote_lock_timeout, Millis(100), Millis(3'600'000));
  settings.AddBytes({"store-segment-bytes",
                     "Size at which a segment of the procedure store is rolled.",
                     {"hbase.procedure.store.wal.roll.threshold"}},
                    &config.store_segment_bytes, 64u << 10, 1u << 30);
  settings.AddMillis(
      {"store-segment-age-ms", "Age at which it is rolled.", {"hbase.procedure.store.wal.periodic.roll.msec"}},
      &config.store_segment_age, Millis(1'000), Millis(86'400'000));
  settings.AddBytes({"history-bytes",
                     "Size of the files below <root>/history, which keep ended procedures for study; the oldest go. 0: "
                     "none is kept.",
                     {}},
                    &config.history.bytes, 0, 1ull << 40);
  settings.AddMillis({"history-age-ms", "Age at which they go.", {}}, &config.history.age, Millis(1'000),
                     Millis(10LL * 365 * 86'400'000));
  settings.AddText({"trace-file",
                    "File that gets a line of OpenTelemetry's JSON (OTLP) for each procedure that ends; empty: none.",
                    {}},
                   &config.trace_file);
  settings.AddBytes({"trace-file-bytes", "Size at which it is renamed to <trace-file>.1 and begun anew.", {}},
                    &config.trace_file_bytes, 64u << 10, 1ull << 40);
  settings.AddMillis({"sync-timeout-ms",
                      "With a write or sync unfinished for this long, the active master leaves its office to a "
                      "standby, if the storage "
                      "answers region servers; 0: never.",
                      {"hbase.regionserver.wal.sync.timeout"}},
                     &config.sync_timeout, Millis(0), Millis(3'600'000));
}

}  // namespace

MasterSettings::MasterSettings(Settings& settings, MasterConfig& config)
    : config_(config),
      dispatcher_threads_(static_cast<std::int64_t>(config.dispatch.max_in_flight)),
      dispatcher_queue_(static_cast<std::int64_t>(config.dispatch.max_queue_size)),
      dispatcher_batch_orders_(static_cast<std::int64_t>(config.dispatch.max_batch_orders)) {
  BindPlace(settings, config);
  BindWork(settings, config);
  BindSplits(settings, config.auto_split);
  BindBalancer(settings, config);
  BindNormalizer(settings, config.normalizer);
  settings.AddMillis(
      {"replication-wait-ms",
       "What a replication peer has not got for so long is shown as a problem; logs are kept for it as long "
       "as it takes.",
       {"hbase.master.replication.wait"}},
      &config.replication_wait, Millis(1), Millis(604'800'000));
  settings.AddText({"snapshot-export-dir",
                    "Snapshots are exported to and imported from directories below this one, an absolute path that all "
                    "masters see; empty: neither is done.",
                    {}},
                   &config.snapshot_export_dir);
  settings.AddInt({"remote-dispatcher-threads",
                   "Requests to region servers that may be in flight at the same time.",
                   {"remote.dispatcher.threads", "hbase.procedure.remote.dispatcher.threadpool.size"}},
                  &dispatcher_threads_, {1, 10'000});
  settings.AddMillis({"remote-dispatcher-delay-ms",
                      "How long the first order for an idle server waits for others.",
                      {"remote.dispatcher.delay_ms", "hbase.procedure.remote.dispatcher.delay.msec"}},
                     &config.dispatch.delay, Millis(0), Millis(10'000));
  settings.AddInt({"remote-dispatcher-max-queue-size",
                   "With more orders than this waiting, the delay is cut short.",
                   {"remote.dispatcher.max_queue_size", "hbase.procedure.remote.dispatcher.max.queue.size"}},
                  &dispatcher_queue_, {1, 100'000});
  settings.AddInt({"remote-dispatcher-max-batch-orders",
                   "Orders in one request to a region server at most; the rest goes with the next one.",
                   {"remote.dispatcher.max_batch_orders"}},
                  &dispatcher_batch_orders_, {1, 100'000});
  settings.AddBytes({"remote-dispatcher-max-batch-bytes",
                     "Size of one request with orders at most, roughly; the rest goes with the next one.",
                     {"remote.dispatcher.max_batch_bytes"}},
                    &config.dispatch.max_batch_bytes, 64u << 10, 64u << 20);
  settings.AddMillis({"regionserver-rpc-startup-wait-ms",
                      "How long a region server may say that it is still starting.",
                      {"regionserver.rpc.startup_wait_ms", "hbase.regionserver.rpc.startup.waittime"}},
                     &config.dispatch.startup_wait, Millis(0), Millis(3'600'000));
  settings.AddMillis(
      {"remote-dispatcher-expire-after-ms", "A server that accepts no order for this long is expired.", {}},
      &config.dispatch.expire_after, Millis(100), Millis(3'600'000));
  settings.AddMillis({"remote-dispatcher-rpc-timeout-ms", "Of one request with orders; it is repeated.", {}},
                     &config.dispatch.rpc_timeout, Millis(50), Millis(600'000));
}

void MasterSettings::Finish() {
  config_.dispatch.max_in_flight = static_cast<std::size_t>(dispatcher_threads_);
  config_.dispatch.max_queue_size = static_cast<std::size_t>(dispatcher_queue_);
  config_.dispatch.max_batch_orders = static_cast<std::size_t>(dispatcher_batch_orders_);
}

}  // namespace ratchet::master
