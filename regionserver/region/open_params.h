// What an opening of a region is given, and what it says of itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "common/base/clock.h"
#include "common/base/live.h"
#include "common/base/result.h"
#include "common/io/disk.h"
#include "common/model/region_info.h"
#include "common/model/table_descriptor.h"
#include "regionserver/region/requests.h"
#include "regionserver/store/disk_room.h"
#include "regionserver/store/manifest.h"
#include "regionserver/store/memstore_budget.h"

namespace ratchet::regionserver {

class ServerLog;

struct RegionSettings {
  Live<std::uint64_t> flush_bytes{64ULL << 20};      // memstore size at which `wants_flush` is called
  Live<std::uint64_t> blocking_bytes{256ULL << 20};  // above it mutations are refused with RegionTooBusyException
  Millis row_lock_wait{30000};                       // then RegionTooBusyException
  Millis nonce_memory{1800000};                      // how long nonces are kept
  std::uint64_t manifest_slack_bytes =
      64 << 10;                          // by which a manifest's edits may outweigh its state before it is rewritten
  std::size_t compaction_min_files = 4;  // size-tiered: so many files of similar size are merged
  std::uint64_t max_cell_bytes =
      10ULL << 20;  // of a cell that is written, encoded; 0: no limit. A table may say its own
  Live<std::uint64_t> max_unit_bytes{256ULL << 20};  // of the cells that one atomic mutation makes; more is refused
  Live<std::uint64_t> max_row_bytes{128ULL << 20};   // that one row may give to a reader that takes it whole
  std::uint64_t wave_bytes = 4ULL << 20;             // a log entry of a batch takes no further mutation above it
  std::shared_ptr<MemstoreBudget> budget;            // of all regions of the server together; null: no bound
  std::shared_ptr<DiskRoom> room;                    // what compactions take of the disk, likewise
};

struct OpenParams {
  RegionInfo info;
  TableDescriptor table;
  std::uint64_t open_seq = 0;                // the opening's number, from the master's order (S21)
  RegionPast past;                           // what the master's order says that must be there
  std::uint64_t descriptor = 0;              // number of the descriptor that `table` is of (S48); 0: unknown
  std::shared_ptr<io::Directory> directory;  // of the region; made by the master
  ServerLog* log = nullptr;                  // outlives the region
  std::string log_owner;                     // name of the log's directory; empty: its turns are not recorded (S113)
  const Clock* clock = nullptr;              // outlives the region
  RegionSettings settings;
  // Called, once per filling, when the memstore has grown past flush_bytes. Must not block.
  std::function<void()> wants_flush;
  // Called once when a higher opening of this region was found: drop the region. Nothing else gives it up (S50). Must
  // not block.
  std::function<void(const Error&)> lost;
  // Called once when the manifest was written and it cannot be told whether this opening still counts, or when a close
  // failed behind the record CLOSED: the process must end (S50, S35).
  std::function<void(const Error&)> unsure;
};

struct RegionStatus {
  std::uint64_t open_seq = 0;
  std::uint64_t read_point = 0;        // newest readable sequence
  std::uint64_t flushed_sequence = 0;  // everything at or below it is in live store files
  std::uint64_t memstore_bytes = 0;
  std::uint64_t store_bytes = 0;
  std::size_t store_files = 0;
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::int64_t oldest_major_ms = 0;  // of the files that a major compaction wrote, the oldest; wall clock ms; 0: none
  std::int64_t greatest_timestamp = 0;  // that a server has given here (S27), wall clock ms; 0: none
};

// Called once, when a mutation, or each of a batch, has ended.
using MutateDone = std::function<void(Result<MutationResult>)>;
using BatchDone = std::function<void(std::vector<Result<MutationResult>>)>;

}  // namespace ratchet::regionserver
