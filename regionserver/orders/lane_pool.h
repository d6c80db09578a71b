// The threads that execute orders and upkeep, in lanes with a fixed number of threads each, so that a slow kind of work
// never keeps another from progressing: openings and closings of meta wait for no other work, and log splitting does
// not delay openings.
//
// A lane's queue has no limit of its own; there is at most one order and one piece of upkeep for each region and
// procedure. Thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>

#include "common/base/thread_pool.h"

namespace ratchet::regionserver {

enum class Lane : std::uint8_t {
  kMeta,
  kRegions,
  kSplitLog,
  kFlush,
  kMetaFlush,
  kSmallCompact,
  kLargeCompact,
  kAdmin,
  kCopy,
  kBuild,
};

struct LaneThreads {
  int meta = 1;           // openings and closings of meta
  int regions = 8;        // openings and closings of all other regions
  int split_log = 2;      // splitting dead servers' logs, meta's log included
  int flush = 2;          // flushes of full memstores
  int meta_flush = 1;     // flushes of meta, which wait for no other flush
  int small_compact = 2;  // compactions of many small store files
  int large_compact = 2;  // rewrites of whole regions
  int admin = 1;          // flushes and rolls of the log that an administrator asks for
  int copy = 4;           // region copies for snapshots, clones and restores: one for each region of a table
  int build = 4;          // regions made by splits and merges

  template <class Settings>
  void Bind(Settings& settings) {
    settings.AddInt({"open-threads",
                     "Maximum number of regions that open or close at the same time (hbase:meta has its own thread).",
                     {"hbase.regionserver.executor.openregion.threads"}},
                    &regions, {1, 100});
    settings.AddInt({"split-log-threads",
                     "Maximum number of logs of dead servers that are split at the same time.",
                     {"hbase.regionserver.wal.max.splitters"}},
                    &split_log, {1, 100});
    settings.AddInt(
        {"flush-threads",
         "Maximum number of memory stores that are written to files at the same time (hbase:meta has its own thread).",
         {"hbase.hstore.flusher.count"}},
        &flush, {1, 100});
    settings.AddInt({"small-compaction-threads",
                     "Maximum number of regions whose newest files are merged at the same time.",
                     {"hbase.regionserver.thread.compaction.small"}},
                    &small_compact, {1, 100});
    settings.AddInt({"large-compaction-threads",
                     "Maximum number of regions that are rewritten as a whole (major compactions) at the same time.",
                     {"hbase.regionserver.thread.compaction.large"}},
                    &large_compact, {1, 100});
  }
};

// Interface for the threads that run orders. A test runs orders inline.
class Lanes {
 public:
  virtual ~Lanes() = default;
  virtual void Run(Lane lane, std::function<void()> work) = 0;
};

class LanePool final : public Lanes {
 public:
  explicit LanePool(const LaneThreads& threads);
  // Waits for running work; drops work that has not begun.
  ~LanePool() override;
  LanePool(const LanePool&) = delete;
  LanePool& operator=(const LanePool&) = delete;

  void Run(Lane lane, std::function<void()> work) override;
  void Stop();

 private:
  std::deque<ThreadPool> lanes_;  // by Lane
};

}  // namespace ratchet::regionserver
