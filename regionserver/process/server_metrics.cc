#include "regionserver/process/server_metrics.h"

#include <algorithm>
#include <map>

#include "common/metrics/process_sample.h"
#include "common/ops/page/shared_metrics.h"
#include "regionserver/process/region_server.h"
#include "regionserver/process/server_parts.h"
#include "regionserver/region/region_counts.h"
#include "regionserver/store/block_cache.h"
#include "regionserver/store/memstore.h"

namespace ratchet::regionserver {
namespace {

using metrics::MetricsText;

void AddState(MetricsText& text, const ServerParts& parts) {
  text.Gauge("server_registered", "1 once a master has registered this server, else 0.", parts.registered ? 1 : 0);
  text.Gauge("server_leaving", "1 while this server hands its regions over, else 0.",
             parts.orderly_stop.asked() ? 1 : 0);
  text.Gauge("server_epoch", "Highest epoch of a master that this server has seen.",
             static_cast<double>(parts.epochs.highest().value()));
  text.Counter("server_came_again_total", "Automatic restarts of this process.", parts.life.history.count);
  text.Gauge("server_regions", "Regions open on this server.", static_cast<double>(parts.host->regions.All().size()));
}

void AddData(MetricsText& text) {
  const RegionCounts& counts = RegionCounts::OfProcess();
  text.Counter("gets_total", "Rows read by Gets.", counts.gets.load());
  text.Counter("scans_total", "Scans of a region begun.", counts.scans.load());
  text.Counter("scanned_rows_total", "Rows read by scans.", counts.scanned_rows.load());
  text.Counter("row_read_files_total", "Store files of the regions of all reads of one row.",
               counts.files_of_rows.load());
  text.Counter("row_read_files_skipped_total", "Store files that reads of one row skipped by their row filters.",
               counts.files_skipped.load());
  text.Counter("mutations_total", "Atomic mutations, including failed ones.", counts.mutations.load());
  text.Counter("mutation_errors_total", "Failed atomic mutations.", counts.failed_mutations.load());
  text.Histogram("mutate_duration_seconds", "Time from a mutation or batch to its durable log entry.");
  text.Durations(counts.mutate.Look());
  text.Histogram("check_duration_seconds", "Duration of the CHECK before an answer from a region's data.");
  text.Durations(counts.check.Look());
  text.Histogram("flush_duration_seconds", "Duration of flushes with data to write.");
  text.Durations(counts.flush.Look());
  text.Counter("flush_errors_total", "Flushes that failed.", counts.failed_flushes.load());
  text.Histogram("compaction_duration_seconds", "Duration of compactions with files to merge.");
  text.Durations(counts.compact.Look());
  text.Counter("compaction_errors_total", "Compactions that failed.", counts.failed_compactions.load());
}

void AddThrottles(MetricsText& text, const Throttles& throttles) {
  text.Counter("throttled_requests_total", "Requests refused because of a quota.", throttles.refused());
}

void AddMemory(MetricsText& text, const MemstoreBudget& budget) {
  text.Gauge("memstore_bytes", "Total size of the memory stores of all regions.",
             static_cast<double>(budget.used.load()));
  text.Gauge("memstore_limit_bytes", "Size of all memory stores above which mutations are refused.",
             static_cast<double>(budget.limit.Get()));
}

void AddBlockCache(MetricsText& text) {
  const BlockCache::Use use = BlockCache::OfProcess().Look();
  text.Gauge("block_cache_bytes", "Size of the store files' blocks in the cache.", static_cast<double>(use.bytes));
  text.Gauge("block_cache_limit_bytes", "Size of all blocks above which the least recently read ones leave.",
             static_cast<double>(use.limit_bytes));
  text.Counter("block_cache_hits_total", "Blocks of store files found in the cache.", use.hits);
  text.Counter("block_cache_misses_total", "Blocks read from store files.", use.misses);
}

void AddLog(MetricsText& text, const WalKeeper& wals) {
  const ServerLog::Metrics log = wals.GetMetrics();
  text.Counter("log_entries_total", "Entries written to this server's logs.", log.entries);
  text.Counter("log_written_bytes_total", "Bytes of entries written to this server's logs.", log.bytes);
  text.Counter("log_rolls_total", "Log rolls.", log.rolls);
  text.Histogram("log_sync_duration_seconds", "Duration of syncs of this server's logs.");
  text.Durations(log.sync_time);
  text.Gauge("log_files", "Log files still needed.", static_cast<double>(wals.FileCount()));
}

// Sums the queues of each peer; there are at most a hundred peers.
void AddReplication(MetricsText& text, const ServerParts& parts) {
  if (!parts.serving) return;  // the replicator exists once the server serves
  struct Sum {
    std::uint64_t lag_ms = 0;
    std::uint64_t logs = 0;
    std::uint64_t shipped = 0;
  };
  std::map<std::string, Sum> peers;
  for (const auto& each : parts.replicator->Progress()) {
    if (each.peer().empty()) continue;
    Sum& sum = peers[each.peer()];
    sum.lag_ms = std::max(sum.lag_ms, each.lag_ms());
    sum.logs += each.logs();
    sum.shipped += each.shipped();
  }
  text.Gauge("replication_lag_seconds", "Age of the oldest entry not yet shipped to the peer.");
  for (const auto& [peer, sum] : peers) text.Value(static_cast<double>(sum.lag_ms) / 1000, {{"peer", peer}});
  text.Gauge("replication_logs", "Log files not completely shipped to the peer.");
  for (const auto& [peer, sum] : peers) text.Value(sum.logs, {{"peer", peer}});
  text.Counter("replication_cells_total", "Cells shipped to the peer.");
  for (const auto& [peer, sum] : peers) text.Value(sum.shipped, {{"peer", peer}});
}

}  // namespace

std::string ServerMetrics(const ServerParts& parts) {
  MetricsText text;
  page::AddBuild(text, "ratchet-regionserver", parts.life.version);
  AddState(text, parts);
  AddData(text);
  AddThrottles(text, parts.throttles);
  AddMemory(text, *parts.budget);
  AddBlockCache(text);
  AddLog(text, parts.host->wals);
  AddReplication(text, parts);
  page::AddRpc(text, *parts.rpc);
  page::AddSecurity(text);
  page::AddStorage(text);
  page::AddZooKeeper(text, parts.session->state());
  page::AddHttp(text, parts.page->stats());
  metrics::AddProcess(text);
  return text.Take();
}

}  // namespace ratchet::regionserver
