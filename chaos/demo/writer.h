// Clients that continue to write while the cluster is being broken, and record what was acknowledged.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "common/base/mutex.h"
#include "common/client/table.h"

namespace ratchet::chaos {

// Writes rows "<6 hex digits>~w<seed in hex>-<thread>-<number>", spread over the whole key space. Two writers with
// different seeds never write the same row. Start once, Stop once.
class Writer {
 public:
  Writer(client::Connection& connection, TableName table, int threads, std::uint64_t seed);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Ends after the operations in progress.
  void Stop();
  [[nodiscard]] std::size_t acknowledged() const;

  struct Account {
    std::map<std::string, std::string> acknowledged;  // row -> value
    std::set<std::string> unknown;                    // failed or timed out: the row may exist or not
    Millis longest_gap{0};                            // between two acknowledgements of any thread
  };
  [[nodiscard]] Account CollectAccount();

 private:
  // `seed`: of this thread's random numbers.
  void Run(int thread, std::uint64_t seed);

  client::Connection& connection_;
  const std::string name_;  // in the names of the rows
  const TableName table_;
  const SystemClock clock_;
  std::atomic<bool> stopping_{false};
  mutable Mutex mutex_;
  Account account_ GUARDED_BY(mutex_);
  TimePoint last_ack_ GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;
};

}  // namespace ratchet::chaos
