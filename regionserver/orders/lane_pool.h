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
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/base/mutex.h"

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
inline constexpr std::size_t kLaneCount = 10;

struct LaneThreads {
  int meta = 1;           // openings and closings of meta
  int regions = 4;        // openings and closings of all other regions
  int split_log = 2;      // splitting dead servers' logs, meta's log included
  int flush = 2;          // flushes of full memstores
  int meta_flush = 1;     // flushes of meta, which wait for no other flush
  int small_compact = 2;  // compactions of many small store files
  int large_compact = 2;  // rewrites of whole regions
  int admin = 1;          // flushes and rolls of the log that an administrator asks for
  int copy = 4;           // region copies for snapshots, clones and restores: one for each region of a table
  int build = 4;          // regions made by splits and merges
};

// Interface for the threads that run orders. A test runs orders inline.
class Lanes {
 public:
  virtual ~Lanes() = default;
  virtual void Run(Lane lane, std::function<void()> work) = 0;
};

class LanePool final : public Lanes {
 public:
  explicit LanePool(LaneThreads threads);
  // Waits for running work; drops work that has not begun.
  ~LanePool() override;
  LanePool(const LanePool&) = delete;
  LanePool& operator=(const LanePool&) = delete;

  void Run(Lane lane, std::function<void()> work) override;
  void Stop();

 private:
  struct Queue {
    Mutex mutex;
    CondVar added;
    std::deque<std::function<void()>> waiting GUARDED_BY(mutex);
    bool stopped GUARDED_BY(mutex) = false;
  };
  static void Work(Queue& queue, const std::string& name);

  std::unique_ptr<Queue> queues_[kLaneCount];
  std::vector<std::thread> threads_;
};

}  // namespace ratchet::regionserver
