// Measures unavailability as a client sees it: continuous small writes, one thread per region, and calls of the master;
// records the times without an answer.
//
// A write is repeated until it is answered, so a gap is exactly the time in which that region was unavailable.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/client/connection.h"
#include "common/model/table_name.h"

namespace ratchet::chaos {

struct Gap {
  std::int64_t from_ms = 0;  // time of the last answer before the gap
  std::int64_t to_ms = 0;    // time of the first answer after it; the current time if there is none yet
  [[nodiscard]] std::int64_t length() const { return to_ms - from_ms; }
};

// Pure: returns the longest of `gaps` that begins before `to_ms`, each measured from `from_ms` on (time before belongs
// to an earlier fault); nullopt when there is none.
[[nodiscard]] std::optional<Gap> LongestGap(const std::vector<Gap>& gaps, std::int64_t from_ms, std::int64_t to_ms);

// Prepare, Start, Stop by one thread; Gaps by any.
class Prober {
 public:
  // Starts one write thread for each of `regions` regions of a separate table.
  Prober(client::Connection& connection, const std::string& table_prefix, int regions);
  ~Prober();
  Prober(const Prober&) = delete;
  Prober& operator=(const Prober&) = delete;

  [[nodiscard]] Status Prepare();
  void Start();
  void Stop();
  // Returns all gaps longer than kShortestMs, including those in progress.
  [[nodiscard]] std::vector<Gap> Gaps() const;

  static constexpr std::int64_t kShortestMs = 50;

 private:
  struct Probe {
    std::string row;  // empty: calls the master
    std::int64_t last_answer_ms = 0;
    std::vector<Gap> gaps;
  };
  void Run(std::size_t number);
  [[nodiscard]] bool AskOnce(const std::string& row, std::uint64_t turn);

  client::Connection& connection_;
  const TableName table_;
  const SystemClock clock_;
  std::atomic<bool> stopping_{false};
  mutable Mutex mutex_;
  std::vector<Probe> probes_ GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;
};

}  // namespace ratchet::chaos
