// What a client sees meanwhile: puts and gets all the time, one thread a region of a table of its own; kept is the
// longest one, with what was going on when it began.
//
// An operation is repeated by the client until it is answered, so that its length is the time in which the region could
// not be used. Begin, Now and End by one thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/client/connection.h"
#include "common/model/table_name.h"

namespace ratchet::chaos {

struct LongestOperation {
  Millis length{0};
  std::string meanwhile;         // as Now said when it began
  std::uint64_t operations = 0;  // of all threads
  std::string failed;            // an operation that was not answered in time; empty: there was none
};

class GapProbe {
 public:
  GapProbe(client::Connection& connection, int regions);
  ~GapProbe();
  GapProbe(const GapProbe&) = delete;
  GapProbe& operator=(const GapProbe&) = delete;

  // Makes the table and starts the threads.
  [[nodiscard]] Status Begin();
  // What is going on from now on.
  void Now(const std::string& what);
  // Ends the threads and drops the table.
  [[nodiscard]] Result<LongestOperation> End();

 private:
  void Run(const std::string& row);
  void StopThreads();

  client::Connection& connection_;
  const TableName table_;
  const int regions_;
  const SystemClock clock_;
  std::atomic<bool> stopping_{false};
  Mutex mutex_;
  std::string now_ GUARDED_BY(mutex_);
  LongestOperation longest_ GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;
};

}  // namespace ratchet::chaos
