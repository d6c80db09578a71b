// Parameters of an opening of a region, and the status that the opening reports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/live.h"
#include "common/base/result.h"
#include "common/io/disk.h"
#include "common/model/region_info.h"
#include "regionserver/region/requests.h"
#include "regionserver/region/shared_table.h"
#include "regionserver/store/disk_room.h"
#include "regionserver/store/manifest.h"
#include "regionserver/store/memstore.h"
#include "regionserver/store/store_file.h"

namespace ratchet::regionserver {

class ServerLog;

// BindCompaction and Bind are two functions, because --help lists other parts' settings in between.
struct RegionSettings {
  Live<std::uint64_t> flush_bytes{64ULL << 20};  // memstore size at which `wants_flush` is called
  // above it mutations are refused with RegionTooBusyException; 0: four times flush_bytes
  Live<std::uint64_t> blocking_bytes{0};
  Millis row_lock_wait{30000};                    // after this time: RegionTooBusyException
  Millis nonce_memory{1800000};                   // how long nonces are kept
  std::uint64_t manifest_slack_bytes = 64 << 10;  // a manifest is rewritten when its edits outweigh its state by this
  std::size_t compaction_min_files = 4;           // size-tiered: number of files of similar size that are merged
  std::uint64_t max_cell_bytes = 10ULL << 20;     // limit of an encoded cell; 0: none. A table may have its own
  Live<std::uint64_t> max_unit_bytes{256ULL << 20};  // limit of the cells that one atomic mutation makes
  Live<std::uint64_t> max_row_bytes{128ULL << 20};   // limit of one row that is read as a whole
  std::uint64_t wave_bytes = 4ULL << 20;             // an entry of a batch takes no further mutation above it
  std::shared_ptr<MemstoreBudget> budget;            // shared by all regions of the server; null: no bound
  std::shared_ptr<DiskRoom> room;                    // disk space for compactions; shared, null: no bound

  [[nodiscard]] std::uint64_t BlockingBytes() const {
    const std::uint64_t own = blocking_bytes;
    return own == 0 ? flush_bytes.Get() * 4 : own;
  }

  template <class Settings>
  void BindCompaction(Settings& settings) {
    settings.AddInt({"compaction-min-files",
                     "Number of files of similar size that are merged; a table or a family may set its own.",
                     {"hbase.hstore.compaction.min", "hbase.hstore.compactionThreshold"}},
                    &compaction_min_files, {2, 1000});
  }

  template <class Settings>
  void Bind(Settings& settings) {
    settings.AddBytes(
        {"max-cell-bytes",
         "Maximum size of a cell, including results of appends; larger ones are refused. 0: no limit. A table's own "
         "hbase.server.keyvalue.maxsize has precedence.",
         {"hbase.server.keyvalue.maxsize", "hbase.client.keyvalue.maxsize"}},
        &max_cell_bytes, 0, 1u << 29);
    settings.AddBytes(
        {"max-mutation-bytes", "Maximum size of an atomic mutation, including the results of appends.", {}},
        &max_unit_bytes, 1u << 20, 1u << 29);
    settings.AddBytes({"max-row-bytes",
                       "Maximum size of a row in a Get or a scan of whole rows; more is refused (RowTooBigException).",
                       {"hbase.table.max.rowsize"}},
                      &max_row_bytes, 1u << 20, 240u << 20);
    settings.AddBytes({"memstore-flush-bytes",
                       "Size of a region's memory store at which it is written to a file.",
                       {"hbase.hregion.memstore.flush.size"}},
                      &flush_bytes, 4096, 1ull << 36);
  }
};

// Settings that all regions of a server share. Copies are cheap.
class SharedSettings {
 public:
  SharedSettings(RegionSettings settings = {})  // NOLINT: settings are settings
      : settings_(std::make_shared<const RegionSettings>(std::move(settings))) {}
  const RegionSettings& operator*() const { return *settings_; }
  const RegionSettings* operator->() const { return settings_.get(); }

 private:
  std::shared_ptr<const RegionSettings> settings_;
};

struct OpenParams {
  RegionInfo info;
  SharedTable table;
  std::uint64_t open_number = 0;  // the opening's number, from the master's order (S21: numbered openings)
  RegionPast past;                // the region's past according to the master's order
  // number of the descriptor of `table` (S48: schema pinned in the order); 0: unknown
  std::uint64_t schema_number = 0;
  std::shared_ptr<io::Directory> directory;  // the region's directory, created by the master
  ServerLog* log = nullptr;                  // outlives the region
  // name of the log's directory; empty: marks are not recorded (S113: serial order of openings)
  std::string log_owner;
  const Clock* clock = nullptr;  // outlives the region
  SharedSettings settings;
  // Called once each time the memstore has grown past flush_bytes. Must not block.
  std::function<void()> wants_flush;
  // Called once when a higher opening of this region was found: drop the region. No other event drops it (S50: give up
  // only on proof). Must not block.
  std::function<void(const Error&)> lost;
  // Called for each request that is refused because this opening's mark could not be read (S120: unserved region is
  // reported). Must not block.
  std::function<void(const Error&)> refused;
  OnDamagedFile damaged;  // called when a read of a store file fails
  // Called once when the manifest was written but this opening's ownership is unknown, or when a close failed after the
  // record CLOSED: the process must end (S50; S35: proof of a clean close).
  std::function<void(const Error&)> unsure;
};

struct RegionStatus {
  std::uint64_t open_number = 0;
  std::uint64_t read_point = 0;        // newest readable sequence
  std::uint64_t flushed_sequence = 0;  // every entry at or below it is in live store files
  std::uint64_t memstore_bytes = 0;
  std::uint64_t store_bytes = 0;
  std::uint64_t uncompressed_bytes = 0;  // of the store files; at least store_bytes
  std::size_t store_files = 0;
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::int64_t oldest_major_ms = 0;  // oldest file of a major compaction; wall clock ms; 0: none
  // greatest timestamp assigned here (S27: rising timestamps), wall clock ms; 0: none
  std::int64_t greatest_timestamp = 0;
};

// Called once, when a mutation, or each mutation of a batch, has ended.
using MutateDone = std::function<void(Result<MutationResult>)>;
using BatchDone = std::function<void(std::vector<Result<MutationResult>>)>;

}  // namespace ratchet::regionserver
