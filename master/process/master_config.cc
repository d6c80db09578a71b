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
  settings.AddText({"zk-acl",
                    "Who may change the cluster's nodes in ZooKeeper: open (all clients), set (processes that know the "
                    "cluster's key; all clients may read). The active master writes it to all nodes.",
                    {}},
                   &config.zk_acl, Presence::kOptional, {"open", "set"});
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
  settings.AddText({"info-names",
                    "Further names in addresses of the page, separated by commas; *: every name. The page answers for "
                    "addresses, localhost, the machine's name, --host and --info-host, and refuses other names (421).",
                    {}},
                   &config.info_names);
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
  tls::TlsOptions::Bind(settings, config.tls);
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
  settings.AddBool({"silence-detection",
                    "Recover a region server before its ZooKeeper session ends, when it answers neither this master "
                    "nor two other servers: its process is stopped, or its network is cut. Needs --early-detection.",
                    {}},
                   &config.silence_detection);
  settings.AddBool({"adopt-zookeeper",
                    "Assign this ZooKeeper node to the cluster of --root although it has another cluster's id, or "
                    "none, after a loss of ZooKeeper. Use it once, then omit it.",
                    {}},
                   &config.adopt_zookeeper);
  settings.AddBool({"start-paused",
                    "Start with every procedure paused, crash handling included, until `ratchet resume everything`.",
                    {}},
                   &config.start_paused);
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
  settings.AddMillis({"retry-max-ms",
                      "Longest pause between two attempts of a procedure's step, so also the longest delay after its "
                      "obstacle is gone.",
                      {}},
                     &config.retry_max, Millis(100), Millis(600'000));
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

void BindMaster(Settings& settings, MasterConfig& config) {
  BindPlace(settings, config);
  BindWork(settings, config);
  BindResults(settings, config);
  config.logic.Bind(settings);
  config.history.Bind(settings);
  config.dispatch.Bind(settings);
}

}  // namespace ratchet::master
