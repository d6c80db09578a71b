#include "regionserver/process/options.h"

namespace ratchet::regionserver {
namespace {

void BindPlace(Settings& settings, ServerOptions& options) {
  settings.AddText({"root", "Directory that all processes of the cluster share.", {"hbase.rootdir"}}, &options.root,
                   Presence::kRequired);
  settings.AddText({"zookeeper", "ZooKeeper's servers, host:port,[IPv6 address]:port.", {"hbase.zookeeper.quorum"}},
                   &options.zookeeper, Presence::kRequired);
  settings.AddText({"zk-parent", "Node below which the cluster registers.", {"zookeeper.znode.parent"}},
                   &options.zk_parent);
  settings.AddMillis({"zk-session-ms",
                      "How long ZooKeeper waits for a silent server before it declares the server dead.",
                      {"zookeeper.session.timeout"}},
                     &options.zk_session, Millis(200), Millis(600'000));
  settings.AddMillis({"zk-connect-timeout-ms", "Time limit for the first connection to ZooKeeper.", {}},
                     &options.zk_connect_timeout, Millis(100), Millis(3'600'000));
  settings.AddText(
      {"host",
       "Name or address at which others reach this server. It listens on all addresses of this name, unless "
       "--bind is set.",
       {"hbase.regionserver.hostname"}},
      &options.host);
  settings.AddText(
      {"bind",
       "Addresses or names to listen on, separated by commas; 0.0.0.0 and :: are all addresses. Empty: every "
       "address of --host.",
       {"hbase.regionserver.ipc.address"}},
      &options.bind);
  settings.AddInt(
      {"port", "Port at which others reach this server, and on which it listens.", {"hbase.regionserver.port"}},
      &options.port, {1, 65'535});
  settings.AddInt({"listen-port", "Port to listen on when others connect through a proxy at --port; 0: --port.", {}},
                  &options.listen_port, {0, 65'535});
  settings.AddInt(
      {"info-port",
       "Port of the page and of /metrics; 0: any free port, shown in the log and by GetServerInfo; -1: none.",
       {"hbase.regionserver.info.port"}},
      &options.info_port, {-1, 65'535});
  settings.AddText({"info-host",
                    "Address to listen on for the page and /metrics. Every client can read them; they change nothing.",
                    {"hbase.regionserver.info.bindAddress"}},
                   &options.info_host);
  settings.AddText({"info-names",
                    "Further names in addresses of the page, separated by commas; *: every name. The page answers for "
                    "addresses, localhost, the machine's name, --host and --info-host, and refuses other names (421).",
                    {}},
                   &options.info_names);
  settings.AddText({"log-file", "Path of the log file; empty: standard error.", {}}, &options.log_file);
  settings.AddText({"log-level", "Lowest level that is logged.", {}}, &options.log_level, Presence::kOptional,
                   {"debug", "info", "warn", "error"});
  settings.AddText({"storage-client",
                    "Name of this process's storage client, which a master may evict (CephFS: client.NAME); "
                    "empty: none.",
                    {}},
                   &options.storage_client);
  settings.AddText(
      {"storage-proof",
       "When to verify the look-up of a name by a round trip to the storage (S101): detect (FUSE and CephFS, whose "
       "clients cache names), always, never.",
       {}},
      &options.storage_proof, Presence::kOptional, {"detect", "always", "never"});
  settings.AddText(
      {"member-proof",
       "Whether processes of versions before 0.3, which send the key of cluster.key in clear, are members: accept; "
       "required (never); auto (only if that key was made by such a version).",
       {}},
      &options.member_proof, Presence::kOptional, {"auto", "accept", "required"});
  tls::TlsOptions::Bind(settings, options.tls);
  settings.AddBool(
      {"start-again",
       "Restart automatically, as a new server, after a lost session, a fence or hanging storage; false if a "
       "supervisor restarts the process.",
       {}},
      &options.start_again);
  settings.AddBool(
      {"allow-fault-points",
       "Allow RATCHET_FAULTS to arm fault points in this process, for tests and chaos; `ratchet status` shows it.",
       {}},
      &options.allow_fault_points);
}

void BindWork(Settings& settings, ServerOptions& options) {
  settings.AddMillis({"start-timeout-ms",
                      "At the start: how long to wait until the first master has written cluster.id and cluster.key.",
                      {}},
                     &options.start_timeout, Millis(100), Millis(3'600'000));
  settings.AddMillis(
      {"report-interval-ms", "Time between two reports to the master.", {"hbase.regionserver.msginterval"}},
      &options.report_interval, Millis(10), Millis(60'000));
  settings.AddMillis(
      {"sync-timeout-ms",
       "If a write or sync is unfinished for this long and the storage answers other servers, this server ends and "
       "they get its regions; 0: never.",
       {"hbase.regionserver.wal.sync.timeout"}},
      &options.sync_timeout, Millis(0), Millis(3'600'000));
  settings.AddInt({"handlers", "Number of threads that answer requests.", {"hbase.regionserver.handler.count"}},
                  &options.handlers, {1, 1000});
  settings.AddInt(
      {"admin-handlers", "Number of threads that answer administrators (flush, compact, roll and the like).", {}},
      &options.admin_handlers, {1, 1000});
  settings.AddInt({"meta-handlers",
                   "Number of threads for clients' requests on hbase:meta; masters' requests have the same number of "
                   "separate threads.",
                   {"hbase.regionserver.metahandler.count"}},
                  &options.meta_handlers, {1, 1000});
  settings.AddInt({"queue-length",
                   "Maximum number of requests that wait for a thread; more are refused as too busy.",
                   {"hbase.ipc.server.max.callqueue.length"}},
                  &options.queue_length, {1, 1'000'000});
  settings.AddBytes(
      {"max-call-bytes",
       "Maximum total size of requests without an answer; more are refused as too busy (CallQueueTooBigException).",
       {"hbase.ipc.server.max.callqueue.size"}},
      &options.max_call_bytes, 1u << 20, 1ull << 40);
  settings.AddInt({"max-request-messages",
                   "Maximum number of protobuf messages in one client request, including nested ones; more are refused "
                   "(RequestTooBigException).",
                   {}},
                  &options.max_request_messages, {1'000, 1'000'000'000});
  settings.AddBytes(
      {"max-answer-bytes",
       "Total size of answers that clients have not read; above it the connection with the most is closed.",
       {}},
      &options.max_answer_bytes, 1u << 20, 1ull << 40);
  settings.AddInt({"open-threads",
                   "Maximum number of regions that open or close at the same time (hbase:meta has its own thread).",
                   {"hbase.regionserver.executor.openregion.threads"}},
                  &options.open_threads, {1, 100});
  settings.AddInt({"split-log-threads",
                   "Maximum number of logs of dead servers that are split at the same time.",
                   {"hbase.regionserver.wal.max.splitters"}},
                  &options.split_log_threads, {1, 100});
  settings.AddInt(
      {"flush-threads",
       "Maximum number of memory stores that are written to files at the same time (hbase:meta has its own thread).",
       {"hbase.hstore.flusher.count"}},
      &options.flush_threads, {1, 100});
  settings.AddInt({"small-compaction-threads",
                   "Maximum number of regions whose newest files are merged at the same time.",
                   {"hbase.regionserver.thread.compaction.small"}},
                  &options.small_compaction_threads, {1, 100});
  settings.AddInt({"large-compaction-threads",
                   "Maximum number of regions that are rewritten as a whole (major compactions) at the same time.",
                   {"hbase.regionserver.thread.compaction.large"}},
                  &options.large_compaction_threads, {1, 100});
  settings.AddInt({"compaction-min-files",
                   "Number of files of similar size that are merged; a table or a family may set its own.",
                   {"hbase.hstore.compaction.min", "hbase.hstore.compactionThreshold"}},
                  &options.compaction_min_files, {2, 1000});
  settings.AddBytes(
      {"keep-free-bytes",
       "Disk space that compactions leave free for flushes and logs; a compaction that may need it waits.",
       {}},
      &options.keep_free_bytes, 0, 1ull << 50);
  settings.AddMillis({"scanner-lease-ms",
                      "A scanner without a request for this long is closed.",
                      {"hbase.client.scanner.timeout.period"}},
                     &options.scanner_lease, Millis(100), Millis(3'600'000));
  settings.AddBytes({"max-result-bytes",
                     "Maximum size of an answer to one scan request, whatever the client requests.",
                     {"hbase.server.scanner.max.result.size"}},
                    &options.max_result_bytes, 1024, 1u << 28);
  settings.AddBytes(
      {"scan-ahead-bytes",
       "Maximum total size of replies that are read ahead for long scans, while clients process the previous reply; "
       "0: none.",
       {}},
      &options.scan_ahead_bytes, 0, 1ull << 34);
  settings.AddBytes({"max-multi-bytes",
                     "Maximum total size of the results of one Multi; clients must repeat the actions beyond it "
                     "(MultiActionResultTooLarge).",
                     {}},
                    &options.max_multi_bytes, 1024, 1u << 28);
  settings.AddMillis({"slow-call-ms",
                      "Client calls that take at least this long are kept in the slow log.",
                      {"hbase.ipc.warn.response.time"}},
                     &options.slow_call, Millis(0), Millis(86'400'000));
  settings.AddBytes({"large-answer-bytes",
                     "Client calls with an answer of at least this size are kept in the slow log.",
                     {"hbase.ipc.warn.response.size"}},
                    &options.large_answer_bytes, 0, 1ull << 40);
  settings.AddInt({"slow-log-calls",
                   "Number of slow and large calls that are kept (the newest); 0: none.",
                   {"hbase.regionserver.slowlog.ringbuffer.size"}},
                  &options.slow_log_calls, {0, 100'000});
  settings.AddInt({"max-scanners", "Maximum number of open scanners; more are refused as too busy.", {}},
                  &options.max_scanners, {1, 1'000'000});
  settings.AddInt({"max-scanners-per-connection",
                   "Maximum number of open scanners of one connection; at most half of max-scanners.",
                   {}},
                  &options.max_scanners_of_connection, {1, 1'000'000});
  settings.AddInt(
      {"max-scanners-per-user", "Maximum number of open scanners of one user; at most half of max-scanners.", {}},
      &options.max_scanners_of_user, {1, 1'000'000});
  settings.AddBytes(
      {"max-cell-bytes",
       "Maximum size of a cell, including results of appends; larger ones are refused. 0: no limit. A table's own "
       "hbase.server.keyvalue.maxsize has precedence.",
       {"hbase.server.keyvalue.maxsize", "hbase.client.keyvalue.maxsize"}},
      &options.max_cell_bytes, 0, 1u << 29);
  settings.AddBytes({"max-mutation-bytes", "Maximum size of an atomic mutation, including the results of appends.", {}},
                    &options.max_mutation_bytes, 1u << 20, 1u << 29);
  settings.AddBytes({"max-row-bytes",
                     "Maximum size of a row in a Get or a scan of whole rows; more is refused (RowTooBigException).",
                     {"hbase.table.max.rowsize"}},
                    &options.max_row_bytes, 1u << 20, 240u << 20);
  settings.AddBytes({"memstore-flush-bytes",
                     "Size of a region's memory store at which it is written to a file.",
                     {"hbase.hregion.memstore.flush.size"}},
                    &options.memstore_flush_bytes, 4096, 1ull << 36);
  settings.AddBytes(
      {"memstore-total-bytes",
       "Total size of all memory stores above which writes are refused as too busy. Flushes begin at nine "
       "tenths of it.",
       {}},
      &options.memstore_total_bytes, 65536, 1ull << 40);
  settings.AddBytes({"block-cache-bytes", "Size of the cache of store files' blocks.", {}}, &options.block_cache_bytes,
                    1u << 20, 1ull << 40);
  settings.AddBytes(
      {"log-roll-bytes", "Size at which a log file is rolled; the next file is preallocated with this size.", {}},
      &options.log_roll_bytes, 65536, 1ull << 30);
  settings.AddInt(
      {"max-logs",
       "Maximum number of log files that wait for flushes; above it the regions that need the oldest are flushed.",
       {"hbase.regionserver.maxlogs"}},
      &options.max_logs, {1, 1000});
  settings.AddMillis(
      {"drain-timeout-ms",
       "At a requested stop: how long to wait until this server's regions are open elsewhere; 0: do not wait.",
       {}},
      &options.drain_timeout, Millis(0), Millis(3'600'000));
  settings.AddMillis(
      {"stop-timeout-ms", "At a requested stop: time limit for flushes; unflushed data remains in the log.", {}},
      &options.stop_timeout, Millis(0), Millis(600'000));
  for (const char* size : {"memstore-flush-bytes", "memstore-total-bytes"})
    settings.OnReload(size, [options] { FollowMemstore(options); });
  settings.OnReload("block-cache-bytes", [options] { BlockCache::OfProcess().SetLimit(options.block_cache_bytes); });
}

}  // namespace

void FollowMemstore(ServerOptions options) {
  options.memstore_blocking_bytes = options.memstore_flush_bytes.Get() * 4;
  options.memstore_flush_at = options.memstore_total_bytes.Get() / 10 * 9;
}

void BindOptions(Settings& settings, ServerOptions& options) {
  BindPlace(settings, options);
  BindWork(settings, options);
}

}  // namespace ratchet::regionserver
