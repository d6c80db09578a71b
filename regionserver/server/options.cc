#include "regionserver/server/options.h"

namespace ratchet::regionserver {
namespace {

void BindPlace(Settings& settings, ServerOptions& options) {
  settings.AddText({"root", "Directory that all processes of the cluster share.", {"hbase.rootdir"}}, &options.root,
                   Presence::kRequired);
  settings.AddText({"zookeeper", "ZooKeeper's servers, host:port,host:port.", {"hbase.zookeeper.quorum"}},
                   &options.zookeeper, Presence::kRequired);
  settings.AddText({"zk-parent", "Node below which the cluster registers.", {"zookeeper.znode.parent"}},
                   &options.zk_parent);
  settings.AddMillis({"zk-session-ms",
                      "How long ZooKeeper waits for a silent server before it is taken for dead.",
                      {"zookeeper.session.timeout"}},
                     &options.zk_session, Millis(200), Millis(600'000));
  settings.AddMillis({"zk-connect-timeout-ms", "How long to try to reach ZooKeeper at the start.", {}},
                     &options.zk_connect_timeout, Millis(100), Millis(3'600'000));
  settings.AddText({"host",
                    "Name or address under which others reach this server, and to listen on.",
                    {"hbase.regionserver.hostname"}},
                   &options.host);
  settings.AddInt({"port", "Port at which others reach this server, and to listen on.", {"hbase.regionserver.port"}},
                  &options.port, {1, 65'535});
  settings.AddInt({"listen-port", "Port to listen on when others come through a proxy at --port; 0: the same.", {}},
                  &options.listen_port, {0, 65'535});
  settings.AddInt(
      {"info-port",
       "Port of the page and of /metrics; 0: any free one, which the log and GetServerInfo tell; -1: neither.",
       {"hbase.regionserver.info.port"}},
      &options.info_port, {-1, 65'535});
  settings.AddText({"info-host",
                    "Address to listen on for them. They show everything to each reader, and change nothing.",
                    {"hbase.regionserver.info.bindAddress"}},
                   &options.info_host);
  settings.AddText({"log-file", "Where log lines go; standard error when empty.", {}}, &options.log_file);
  settings.AddText({"log-level", "Least severe level that is logged.", {}}, &options.log_level, Presence::kOptional,
                   {"debug", "info", "warn", "error"});
  settings.AddText({"storage-client",
                    "Name of this process's own client of the storage, which a master may evict (CephFS: client.NAME); "
                    "empty: none.",
                    {}},
                   &options.storage_client);
  settings.AddText(
      {"storage-proof",
       "When a look at a name is proven by a round trip to the storage (S101): detect (FUSE and CephFS, whose "
       "clients cache names), always, never.",
       {}},
      &options.storage_proof, Presence::kOptional, {"detect", "always", "never"});
  settings.AddBool(
      {"start-again",
       "Come again by itself, as a new server, after a lost session, a fence or storage that hangs; false where a "
       "supervisor starts it again.",
       {}},
      &options.start_again);
  settings.AddBool(
      {"allow-fault-points",
       "Let RATCHET_FAULTS arm fault points in this process, for tests and the chaos driver; `ratchet status` says so.",
       {}},
      &options.allow_fault_points);
}

void BindWork(Settings& settings, ServerOptions& options) {
  settings.AddMillis({"start-timeout-ms",
                      "How long to wait at the start for the first master to write cluster.id and cluster.key.",
                      {}},
                     &options.start_timeout, Millis(100), Millis(3'600'000));
  settings.AddMillis(
      {"report-interval-ms", "Time between two reports of load to the master.", {"hbase.regionserver.msginterval"}},
      &options.report_interval, Millis(10), Millis(60'000));
  settings.AddMillis(
      {"sync-timeout-ms",
       "With a write or sync unfinished for this long, the server leaves its regions to others, if the storage answers "
       "others; 0: never.",
       {"hbase.regionserver.wal.sync.timeout"}},
      &options.sync_timeout, Millis(0), Millis(3'600'000));
  settings.AddInt({"handlers", "Threads that answer requests.", {"hbase.regionserver.handler.count"}},
                  &options.handlers, {1, 1000});
  settings.AddInt({"admin-handlers", "Threads that answer administrators (flush, compact, roll and the like).", {}},
                  &options.admin_handlers, {1, 1000});
  settings.AddInt({"meta-handlers",
                   "Threads for clients' requests on hbase:meta; masters' have as many of their own.",
                   {"hbase.regionserver.metahandler.count"}},
                  &options.meta_handlers, {1, 1000});
  settings.AddInt({"queue-length",
                   "Requests that may wait for a thread; more are refused as too busy.",
                   {"hbase.ipc.server.max.callqueue.length"}},
                  &options.queue_length, {1, 1'000'000});
  settings.AddBytes(
      {"max-call-bytes",
       "Requests together that have no answer yet; more are refused as too busy (CallQueueTooBigException).",
       {"hbase.ipc.server.max.callqueue.size"}},
      &options.max_call_bytes, 1u << 20, 1ull << 40);
  settings.AddBytes(
      {"max-answer-bytes",
       "Answers together that clients have not read yet; above it the connection that holds the most is closed.",
       {}},
      &options.max_answer_bytes, 1u << 20, 1ull << 40);
  settings.AddInt({"open-threads",
                   "Regions opened or closed at the same time (meta has its own thread).",
                   {"hbase.regionserver.executor.openregion.threads"}},
                  &options.open_threads, {1, 100});
  settings.AddInt(
      {"split-log-threads", "Logs of dead servers split at the same time.", {"hbase.regionserver.wal.max.splitters"}},
      &options.split_log_threads, {1, 100});
  settings.AddInt({"flush-threads",
                   "Memory stores written to files at the same time (hbase:meta has its own thread).",
                   {"hbase.hstore.flusher.count"}},
                  &options.flush_threads, {1, 100});
  settings.AddInt({"small-compaction-threads",
                   "Regions whose newest files are merged at the same time.",
                   {"hbase.regionserver.thread.compaction.small"}},
                  &options.small_compaction_threads, {1, 100});
  settings.AddInt({"large-compaction-threads",
                   "Regions that are rewritten as a whole (major compactions) at the same time.",
                   {"hbase.regionserver.thread.compaction.large"}},
                  &options.large_compaction_threads, {1, 100});
  settings.AddInt({"compaction-min-files",
                   "So many files of similar size are merged; a table or a family may say another number.",
                   {"hbase.hstore.compaction.min", "hbase.hstore.compactionThreshold"}},
                  &options.compaction_min_files, {2, 1000});
  settings.AddBytes({"keep-free-bytes",
                     "What compactions leave free on the disk, for flushes and logs; one that may need more waits.",
                     {}},
                    &options.keep_free_bytes, 0, 1ull << 50);
  settings.AddMillis({"scanner-lease-ms",
                      "A scanner that no client asks for this long is closed.",
                      {"hbase.client.scanner.timeout.period"}},
                     &options.scanner_lease, Millis(100), Millis(3'600'000));
  settings.AddBytes({"max-result-bytes",
                     "Largest answer to one scan request, whatever the client asks for.",
                     {"hbase.server.scanner.max.result.size"}},
                    &options.max_result_bytes, 1024, 1u << 28);
  settings.AddBytes(
      {"scan-ahead-bytes",
       "Replies of long scans that are read while their clients take the ones before apart, all together; "
       "0: none.",
       {}},
      &options.scan_ahead_bytes, 0, 1ull << 34);
  settings.AddBytes(
      {"max-multi-bytes",
       "Results of one Multi together; the actions beyond it are left out, and clients ask again for them "
       "(MultiActionResultTooLarge).",
       {}},
      &options.max_multi_bytes, 1024, 1u << 28);
  settings.AddMillis({"slow-call-ms",
                      "A call of a client that takes at least this long is kept in the slow log.",
                      {"hbase.ipc.warn.response.time"}},
                     &options.slow_call, Millis(0), Millis(86'400'000));
  settings.AddBytes({"large-answer-bytes",
                     "A call of a client whose answer is at least this large is kept in the slow log.",
                     {"hbase.ipc.warn.response.size"}},
                    &options.large_answer_bytes, 0, 1ull << 40);
  settings.AddInt({"slow-log-calls",
                   "Slow and large calls that are kept, the newest; 0: none.",
                   {"hbase.regionserver.slowlog.ringbuffer.size"}},
                  &options.slow_log_calls, {0, 100'000});
  settings.AddInt({"max-scanners", "Scanners open at the same time; more are refused as too busy.", {}},
                  &options.max_scanners, {1, 1'000'000});
  settings.AddBytes(
      {"max-cell-bytes",
       "Largest cell that is written, results of appends included; more is refused. 0: no limit. A table's own "
       "hbase.server.keyvalue.maxsize goes before it.",
       {"hbase.server.keyvalue.maxsize", "hbase.client.keyvalue.maxsize"}},
      &options.max_cell_bytes, 0, 1u << 29);
  settings.AddBytes({"max-mutation-bytes", "Largest atomic mutation, with what its appends make; more is refused.", {}},
                    &options.max_mutation_bytes, 1u << 20, 1u << 29);
  settings.AddBytes(
      {"max-row-bytes",
       "Most that one row gives to a Get, or to a scan that takes it whole; more is refused (RowTooBigException).",
       {"hbase.table.max.rowsize"}},
      &options.max_row_bytes, 1u << 20, 240u << 20);
  settings.AddBytes({"memstore-flush-bytes",
                     "Size of a region's memory store at which it is written to a file.",
                     {"hbase.hregion.memstore.flush.size"}},
                    &options.memstore_flush_bytes, 4096, 1ull << 36);
  settings.AddBytes(
      {"memstore-total-bytes",
       "Size of all memory stores together above which writes are refused as too busy until flushes, which "
       "begin at nine tenths of it, have made room.",
       {}},
      &options.memstore_total_bytes, 65536, 1ull << 40);
  settings.AddBytes(
      {"log-roll-bytes",
       "Size of a file of the server's log at which the next one is begun; one is prepared ahead, of this size.",
       {}},
      &options.log_roll_bytes, 65536, 1ull << 30);
  settings.AddInt(
      {"max-logs",
       "Files of the log that may wait for flushes; with more, the regions that keep the oldest are flushed.",
       {"hbase.regionserver.maxlogs"}},
      &options.max_logs, {1, 1000});
  settings.AddMillis(
      {"drain-timeout-ms",
       "At a requested stop: how long to wait until this server's regions are open elsewhere. 0: not at all.",
       {}},
      &options.drain_timeout, Millis(0), Millis(3'600'000));
  settings.AddMillis(
      {"stop-timeout-ms", "At a requested stop: how long to flush before leaving the rest to the log.", {}},
      &options.stop_timeout, Millis(0), Millis(600'000));
  for (const char* size : {"memstore-flush-bytes", "memstore-total-bytes"})
    settings.OnReload(size, [options] { FollowMemstore(options); });
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
