#include "master/process/master_config.h"

namespace ratchet::master {
namespace {

void BindPlace(Settings& settings, MasterConfig& config) {
  settings.AddText({"root", "Root directory that all processes of the cluster share.", {"hbase.rootdir"}},
                   &config.root);
  settings.AddText({"zookeeper", "Addresses of ZooKeeper's servers: host:port,host:port.", {"hbase.zookeeper.quorum"}},
                   &config.zookeeper);
  settings.AddText({"zk-parent", "ZooKeeper node below which the cluster registers.", {"zookeeper.znode.parent"}},
                   &config.zk_parent);
  settings.AddMillis({"zk-session-ms",
                      "ZooKeeper session time-out: a standby replaces a master that is silent for longer.",
                      {"zookeeper.session.timeout"}},
                     &config.zk_session, Millis(200), Millis(600'000));
  settings.AddMillis({"zk-connect-timeout-ms", "How long to retry the connection to ZooKeeper at the start.", {}},
                     &config.zk_connect_timeout, Millis(100), Millis(3'600'000));
  settings.AddText({"host",
                    "Name or address at which other processes reach this master. It listens on all addresses of this "
                    "name, unless --bind is set.",
                    {"hbase.master.hostname"}},
                   &config.host);
  settings.AddText({"bind",
                    "Addresses or names to listen on, separated by commas; 0.0.0.0 and :: mean all addresses. Empty: "
                    "every address of --host.",
                    {"hbase.master.ipc.address"}},
                   &config.bind);
  settings.AddInt(
      {"port", "Port at which other processes reach this master, and on which it listens.", {"hbase.master.port"}},
      &config.port, {1, 65'535});
  settings.AddInt(
      {"listen-port", "Port to listen on if other processes connect through a proxy at --port; 0: --port.", {}},
      &config.listen_port, {0, 65'535});
  settings.AddInt(
      {"info-port",
       "Port of the page and of /metrics; 0: any free port, which the log and the cluster's status show; -1: no page.",
       {"hbase.master.info.port"}},
      &config.info_port, {-1, 65'535});
  settings.AddText({"info-host",
                    "Address on which the page listens. It is read-only and shows everything to every reader.",
                    {"hbase.master.info.bindAddress"}},
                   &config.info_host);
  settings.AddMillis({"refused-page-ms",
                      "Time for which the page of a master whose start is refused (exit code 16) shows the cause "
                      "before the process ends; 0: none.",
                      {}},
                     &config.refused_page, Millis(0), Millis(600'000));
  settings.AddText({"log-file", "Log file; empty: standard error.", {}}, &config.log_file);
  settings.AddText({"log-level", "Minimum level of log lines.", {}}, &config.log_level, Presence::kOptional,
                   {"debug", "info", "warn", "error"});
  settings.AddText(
      {"storage-client",
       "Name of this process's own storage client, which a later master may evict (CephFS: client.NAME); empty: none.",
       {}},
      &config.storage_client);
  settings.AddText({"fence-command",
                    "Program that evicts a dead process's storage client, called with the client's name and session; "
                    "for CephFS: scripts/ceph/evict. Empty: the storage's own time-out applies.",
                    {}},
                   &config.fence_command);
  settings.AddMillis(
      {"fence-command-timeout-ms", "Time limit of the fence command; after it the command is killed and retried.", {}},
      &config.fence_command_timeout, Millis(100), Millis(600'000));
  settings.AddText({"storage-proof",
                    "When to confirm a name lookup by a round trip to the storage (S101): detect (FUSE and CephFS, "
                    "whose clients cache names), always, never.",
                    {}},
                   &config.storage_proof, Presence::kOptional, {"detect", "always", "never"});
  settings.AddText(
      {"member-proof",
       "Whether processes of versions before 0.3, which send the key of cluster.key in clear, are members: accept; "
       "required (never); auto (only if that key was made by such a version).",
       {}},
      &config.member_proof, Presence::kOptional, {"auto", "accept", "required"});
  settings.AddBool({"start-again",
                    "Restart automatically, as a new master, after a lost session, a fence or hanging storage; false "
                    "if a supervisor restarts it.",
                    {}},
                   &config.start_again);
  settings.AddBool({"allow-fault-points",
                    "Allow fault injection by RATCHET_FAULTS in this process, for tests and the chaos driver; shown by "
                    "`ratchet status`.",
                    {}},
                   &config.allow_fault_points);
  settings.AddBool({"publish-client-znodes",
                    "Publish meta-region-server in ZooKeeper for clients that can find meta only there.",
                    {}},
                   &config.publish_client_znodes);
  settings.AddBool({"early-detection",
                    "Recover a region server, or replace the active master, before its ZooKeeper session ends, when "
                    "its connection has ended and its address refuses connections of this master and of another "
                    "server.",
                    {}},
                   &config.early_detection);
  settings.AddBool({"adopt-zookeeper",
                    "Assign this ZooKeeper node to the cluster of --root although it has another cluster's id, or "
                    "none, after a loss of ZooKeeper. Use it once, then omit it.",
                    {}},
                   &config.adopt_zookeeper);
  settings.AddBool({"start-paused",
                    "Start with every procedure paused, crash handling included, until `ratchet resume everything`.",
                    {}},
                   &config.start_paused);
  settings.AddBool(
      {"table-sanity-checks",
       "Refuse tables with sizes, times and classes that HBase's sanity checks refuse; false: only log them.",
       {"hbase.table.sanity.checks"}},
      &config.table_sanity_checks);
  settings.AddBool({"quota-table-at-start",
                    "Create the table hbase:quota at the start; false: with the first quota. Quotas work either way.",
                    {"hbase.quota.enabled"}},
                   &config.quota_table_at_start);
  settings.AddBool({"list-steps", "Print every procedure type with its steps, and exit.", {}}, &config.list_steps);
  settings.AddBool({"check-root",
                    "Print every check of --root that can prevent a start, one per line, and exit. Changes nothing, "
                    "also while the cluster runs. Exit code 16: a start would be refused.",
                    {}},
                   &config.check_root);
  settings.AddText({"replay",
                    "Print the procedures of the store in this directory (a root, or its 'procedures') that this "
                    "program could not resume, and exit. Use it before an upgrade; it changes nothing. Exit code 3: at "
                    "least one procedure; 2: the store cannot be read.",
                    {}},
                   &config.replay);
  settings.AddBool({"json", "Print the output of --list-steps or --replay as JSON.", {}}, &config.json);
}

void BindBalancer(Settings& settings, MasterConfig& config) {
  BalancerOptions& balancer = config.balancer;
  settings.AddText({"balancer",
                    "Goal of the balancer: 'simple' evens the number of regions of each server and table; 'stochastic' "
                    "also evens requests and sizes, by the weights.",
                    {}},
                   &config.balancer_kind, Presence::kOptional, {"simple", "stochastic"});
  const auto weight = [&settings](const char* name, const char* what, const char* in_hbase, double* target) {
    settings.AddDouble({name, fmt::format("Stochastic balancer: weight of {}.", what), {in_hbase}}, target, 0.0, 1e6);
  };
  BalanceWeights& weights = balancer.weights;
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
                     &balancer.least_gain, 0.0, 1.0);
  settings.AddMillis(
      {"balancer-period-ms",
       "Interval of the balancer's checks; it also checks when a server joins. 0: it moves regions only on request.",
       {"hbase.balancer.period"}},
      &balancer.period, Millis(0), Millis(86'400'000));
  settings.AddDouble({"balancer-slop",
                      "Allowed deviation of a server's number of regions from the average, as a fraction; automatic "
                      "moves start beyond it.",
                      {"hbase.regions.slop"}},
                     &balancer.slop, 0.0, 10.0);
  settings.AddInt({"balancer-moves-at-once", "Maximum number of concurrent moves.", {}}, &balancer.limits.at_once,
                  {1, 10'000});
  settings.AddDouble({"balancer-table-share",
                      "Maximum share of a table's regions that the balancer moves concurrently; at least one region.",
                      {}},
                     &balancer.limits.table_share, 0.0, 1.0);
}

void BindNormalizer(Settings& settings, NormalizerOptions& normalizer) {
  settings.AddMillis({"normalizer-period-ms",
                      "Interval of the normalizer's checks while it is switched on; 0: only on request.",
                      {"hbase.normalizer.period"}},
                     &normalizer.period, Millis(0), Millis(86'400'000));
  settings.AddInt(
      {"normalizer-steps-at-once", "Maximum number of splits and merges of one check of the normalizer.", {}},
      &normalizer.at_once, {1, 1000});
}

void BindSplits(Settings& settings, AutoSplitOptions& splits) {
  settings.AddMillis(
      {"auto-split-interval-ms",
       "Interval of the checks for regions of one server that have grown too large; 0: no splits by size.",
       {}},
      &splits.interval, Millis(0), Millis(86'400'000));
  settings.AddBytes({"region-max-file-bytes",
                     "Size of store files above which a region is split, for tables without MAX_FILESIZE.",
                     {"hbase.hregion.max.filesize"}},
                    &splits.policy.max_bytes, 1u << 20, 1ull << 50);
  settings.AddText({"region-split-policy",
                    "Split policy of tables without SPLIT_POLICY: a class of HBase, with or without its package.",
                    {"hbase.regionserver.region.split.policy"}},
                   &splits.policy.policy);
  settings.AddBytes({"region-split-initial-bytes",
                     "Initial size for policies that begin with smaller regions; 0: twice --region-flush-bytes.",
                     {"hbase.increasing.policy.initial.size"}},
                    &splits.policy.initial_bytes, 0, 1ull << 50);
  settings.AddBytes({"region-flush-bytes",
                     "Value of the region servers' --memstore-flush-bytes, for tables without MEMSTORE_FLUSHSIZE.",
                     {"hbase.hregion.memstore.flush.size"}},
                    &splits.policy.flush_bytes, 4096, 1ull << 36);
  settings.AddInt({"auto-splits-at-once", "Maximum number of concurrent splits by size in the whole cluster.", {}},
                  &splits.at_once, {1, 1000});
}

void BindResults(Settings& settings, MasterConfig& config) {
  settings.AddMillis({"procedure-result-ttl-ms",
                      "How long the result of an ended procedure is kept for its client.",
                      {"hbase.procedure.cleaner.evict.ttl"}},
                     &config.result_ttl, Millis(1'000), Millis(86'400'000));
  settings.AddMillis({"procedure-acked-result-ttl-ms",
                      "How long a result is kept after its client has acknowledged it.",
                      {"hbase.procedure.cleaner.acked.evict.ttl"}},
                     &config.acked_result_ttl, Millis(0), Millis(86'400'000));
  settings.AddMillis({"procedure-result-eviction-interval-ms",
                      "Interval of the checks for older results.",
                      {"hbase.procedure.cleaner.interval"}},
                     &config.result_eviction_interval, Millis(100), Millis(3'600'000));
  settings.AddMillis({"region-state-grace-ms",
                      "The master compares a region's state with heartbeats and hbase:meta only if the state has not "
                      "changed for this long.",
                      {}},
                     &config.region_state_grace, Millis(0), Millis(600'000));
}

void BindWork(Settings& settings, MasterConfig& config) {
  settings.AddInt({"procedure-threads",
                   "Number of workers that run procedures; one more is reserved for meta and crash handling.",
                   {"hbase.master.procedure.threads"}},
                  &config.workers, {1, 1000});
  settings.AddInt({"procedure-steps-per-table",
                   "Maximum number of concurrent procedure steps of one table, its regions included; more steps wait "
                   "in a queue. 0: no limit.",
                   {}},
                  &config.steps_per_table, {0, 1000});
  settings.AddInt({"procedure-steps-per-server",
                   "Maximum number of concurrent procedure steps of one region server. Crash handling is never "
                   "limited. 0: no limit.",
                   {}},
                  &config.steps_per_server, {0, 1000});
  settings.AddInt({"procedure-steps-per-peer",
                   "Maximum number of concurrent procedure steps of one replication peer. 0: no limit.",
                   {}},
                  &config.steps_per_peer, {0, 1000});
  settings.AddInt({"handlers", "Number of threads that answer clients.", {"hbase.regionserver.handler.count"}},
                  &config.handlers, {1, 1000});
  settings.AddInt(
      {"report-handlers", "Number of threads that handle region servers' reports.", {"hbase.master.handler.count"}},
      &config.report_handlers, {1, 1000});
  settings.AddInt({"queue-length",
                   "Maximum number of requests that wait for a thread; more are refused as too busy.",
                   {"hbase.ipc.server.max.callqueue.length"}},
                  &config.queue_length, {1, 1'000'000});
  settings.AddInt({"max-request-messages",
                   "Maximum number of protobuf messages in one request of a client, nested ones included; a request "
                   "with more is refused (RequestTooBigException).",
                   {}},
                  &config.max_request_messages, {1'000, 1'000'000'000});
  settings.AddMillis({"meta-rpc-timeout-ms", "Time-out of one request to hbase:meta; the request is repeated.", {}},
                     &config.meta.rpc_timeout, Millis(100), Millis(600'000));
  settings.AddMillis({"order-resend-ms", "Time after which an unanswered order to a region server is sent again.", {}},
                     &config.order_resend, Millis(100), Millis(600'000));
  settings.AddMillis({"retry-max-ms",
                      "Longest pause between two attempts of a procedure's step, so also the longest delay after its "
                      "obstacle is gone.",
                      {}},
                     &config.retry_max, Millis(100), Millis(600'000));
  settings.AddMillis({"retain-wait-ms",
                      "After a restart of the whole cluster: how long a server's regions wait for a new server at its "
                      "address before they are assigned elsewhere.",
                      {}},
                     &config.retain_wait, Millis(0), Millis(3'600'000));
  settings.AddMillis({"catalog-janitor-interval-ms",
                      "Interval of the checks for split or merged regions that are no longer needed, up to 100 per "
                      "check; 0: with every sweep of the master, every few seconds.",
                      {"hbase.catalogjanitor.interval"}},
                     &config.catalog_janitor_interval, Millis(0), Millis(86'400'000));
  settings.AddMillis({"cleaner-interval-ms", "Interval of the archive cleaner.", {"hbase.master.cleaner.interval"}},
                     &config.cleaner_interval, Millis(100), Millis(86'400'000));
  settings.AddMillis({"archive-ttl-ms",
                      "How long archived directories are kept before the cleaner deletes them.",
                      {"hbase.master.hfilecleaner.ttl"}},
                     &config.archive_ttl, Millis(0), Millis(86'400'000));
  settings.AddMillis(
      {"max-clock-skew-ms",
       "Maximum clock skew of a region server relative to this master; a greater one prevents its registration.",
       {"hbase.master.maxclockskew"}},
      &config.clocks.refused, Millis(1), Millis(86'400'000));
  settings.AddText({"oldest-server-version", "Minimum version of region servers; an older one cannot register.", {}},
                   &config.oldest_server_version, Presence::kOptional);
  settings.AddMillis({"warning-clock-skew-ms",
                      "Clock skew of a region server relative to this master above which it is shown as a problem.",
                      {"hbase.master.warningclockskew"}},
                     &config.clocks.warning, Millis(1), Millis(86'400'000));
  settings.AddMillis({"remote-lock-timeout-ms",
                      "Time after which a client's lock without a heartbeat is released.",
                      {"hbase.master.procedure.remote.locks.timeout.ms"}},
                     &config.remote_lock_timeout, Millis(100), Millis(3'600'000));
  settings.AddBytes({"store-segment-bytes",
                     "Size at which a segment of the procedure store is rolled.",
                     {"hbase.procedure.store.wal.roll.threshold"}},
                    &config.store_segment_bytes, 64u << 10, 1u << 30);
  settings.AddMillis({"store-segment-age-ms",
                      "Age at which a segment of the procedure store is rolled.",
                      {"hbase.procedure.store.wal.periodic.roll.msec"}},
                     &config.store_segment_age, Millis(1'000), Millis(86'400'000));
  settings.AddBytes({"history-bytes",
                     "Maximum size of the files below <root>/history, which store ended procedures; the oldest files "
                     "are removed. 0: no history.",
                     {}},
                    &config.history.bytes, 0, 1ull << 40);
  settings.AddMillis({"history-age-ms", "Maximum age of history files.", {}}, &config.history.age, Millis(1'000),
                     Millis(10LL * 365 * 86'400'000));
  settings.AddText(
      {"trace-file",
       "File to which a line of OpenTelemetry's JSON (OTLP) is written for each procedure that ends; empty: none.",
       {}},
      &config.trace_file);
  settings.AddBytes(
      {"trace-file-bytes", "Size at which the trace file is renamed to <trace-file>.1 and a new one is started.", {}},
      &config.trace_file_bytes, 64u << 10, 1ull << 40);
  settings.AddMillis({"sync-timeout-ms",
                      "If a write or sync is unfinished for this long and the storage answers region servers, the "
                      "active master hands over to a standby; 0: never.",
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
  BindResults(settings, config);
  BindSplits(settings, config.auto_split);
  BindBalancer(settings, config);
  BindNormalizer(settings, config.normalizer);
  settings.AddMillis({"replication-wait-ms",
                      "Time after which entries that a replication peer has not received are shown as a problem; their "
                      "logs are kept without limit.",
                      {"hbase.master.replication.wait"}},
                     &config.replication_wait, Millis(1), Millis(604'800'000));
  settings.AddText({"snapshot-export-dir",
                    "Directory for exports and imports of snapshots, an absolute path that all masters see; empty: "
                    "both are disabled.",
                    {}},
                   &config.snapshot_export_dir);
  settings.AddInt({"remote-dispatcher-threads",
                   "Maximum number of concurrent requests to region servers.",
                   {"remote.dispatcher.threads", "hbase.procedure.remote.dispatcher.threadpool.size"}},
                  &dispatcher_threads_, {1, 10'000});
  settings.AddMillis({"remote-dispatcher-delay-ms",
                      "How long the first order for an idle server waits for others.",
                      {"remote.dispatcher.delay_ms", "hbase.procedure.remote.dispatcher.delay.msec"}},
                     &config.dispatch.delay, Millis(0), Millis(10'000));
  settings.AddInt({"remote-dispatcher-max-queue-size",
                   "Number of waiting orders above which the delay ends early.",
                   {"remote.dispatcher.max_queue_size", "hbase.procedure.remote.dispatcher.max.queue.size"}},
                  &dispatcher_queue_, {1, 100'000});
  settings.AddInt({"remote-dispatcher-max-batch-orders",
                   "Maximum number of orders in one request to a region server; the rest follows in the next request.",
                   {"remote.dispatcher.max_batch_orders"}},
                  &dispatcher_batch_orders_, {1, 100'000});
  settings.AddBytes({"remote-dispatcher-max-batch-bytes",
                     "Approximate maximum size of one request with orders; the rest follows in the next request.",
                     {"remote.dispatcher.max_batch_bytes"}},
                    &config.dispatch.max_batch_bytes, 64u << 10, 64u << 20);
  settings.AddMillis({"regionserver-rpc-startup-wait-ms",
                      "How long a region server may report that it is still starting.",
                      {"regionserver.rpc.startup_wait_ms", "hbase.regionserver.rpc.startup.waittime"}},
                     &config.dispatch.startup_wait, Millis(0), Millis(3'600'000));
  settings.AddMillis(
      {"remote-dispatcher-expire-after-ms", "Time after which a server that accepts no order is expired.", {}},
      &config.dispatch.expire_after, Millis(100), Millis(3'600'000));
  settings.AddMillis(
      {"remote-dispatcher-rpc-timeout-ms", "Time-out of one request with orders; the request is repeated.", {}},
      &config.dispatch.rpc_timeout, Millis(50), Millis(600'000));
}

void MasterSettings::Finish() {
  config_.dispatch.max_in_flight = static_cast<std::size_t>(dispatcher_threads_);
  config_.dispatch.max_queue_size = static_cast<std::size_t>(dispatcher_queue_);
  config_.dispatch.max_batch_orders = static_cast<std::size_t>(dispatcher_batch_orders_);
}

}  // namespace ratchet::master
