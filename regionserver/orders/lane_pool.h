// The threads that execute orders and upkeep, in lanes with a fixed number of threads each, so that a slow kind of work
// never keeps another from progressing: meta's openings and closings pass everything, log splitting stays out of the
// way of openings.
//
// Work waits in its lane without bound; there is at most one order and one piece of upkeep for each region and
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

enum class Lane : std::uint8_t { kMeta, kRegions, kSplitLog, kFlush, kMetaFlush, kSmallCompact, kLargeCompact, kAdmin };
inline constexpr std::size_t kLaneCount = 8;

struct LaneThreads {
  int meta = 1;           // openings and closings of meta
  int regions = 4;        // openings and closings of all other regions
  int split_log = 2;      // splitting dead servers' logs, meta's log included
  int flush = 2;          // memstores that are full
  int meta_flush = 1;     // the one of meta, which waits behind no other
  int small_compact = 2;  // store files that are many
  int large_compact = 2;  // whole regions that are rewritten
  int admin = 1;          // flushes and rolls of the log that an administrator asks for
};

// Where orders run. A test runs them inline.
class Lanes {
 public:
  virtual ~Lanes() = default;
  virtual void Run(Lane lane, std::function<void()> work) = 0;
};

class LanePool final : public Lanes {
 public:
  explicit LanePool(LaneThreads threads);
  // Waits for what is being executed; drops what has not begun.
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
