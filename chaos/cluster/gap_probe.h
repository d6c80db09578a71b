// Measures unavailability as a client sees it: it puts and gets continuously, with one thread for each region of a
// table of its own, and keeps the longest operation with the event during which it began.
//
// The client repeats an operation until it is answered, so its duration is the time in which the region was
// unavailable. Begin, Now and End by one thread.
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
  std::string meanwhile;         // the text of Now at its beginning
  std::uint64_t operations = 0;  // operations of all threads
  std::string failed;            // an operation without an answer in time; empty: none
};

class GapProbe {
 public:
  GapProbe(client::Connection& connection, int regions);
  ~GapProbe();
  GapProbe(const GapProbe&) = delete;
  GapProbe& operator=(const GapProbe&) = delete;

  // Creates the table and starts the threads.
  [[nodiscard]] Status Begin();
  // Sets the description of the current event.
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
