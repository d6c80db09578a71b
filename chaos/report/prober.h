// Unavailability as a client sees it: small writes all the time, one thread a region, and a question to the master;
// what is kept is when no server answered.
//
// A write is repeated until it is answered, so that a gap is exactly the time in which that region could not be used.
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
  std::int64_t from_ms = 0;  // the last answer before
  std::int64_t to_ms = 0;    // the first one after; now, when there is none yet
  [[nodiscard]] std::int64_t length() const { return to_ms - from_ms; }
};

// Pure: the longest of `gaps` that begins before `to`, each counted from `from` on (what was before is of an earlier
// fault); nothing when there is none.
[[nodiscard]] std::optional<Gap> LongestGap(const std::vector<Gap>& gaps, std::int64_t from_ms, std::int64_t to_ms);

// Prepare, Start, Stop by one thread; Gaps by any.
class Prober {
 public:
  // One write thread for each of `regions` regions of a table of its own.
  Prober(client::Connection& connection, const std::string& table_prefix, int regions);
  ~Prober();
  Prober(const Prober&) = delete;
  Prober& operator=(const Prober&) = delete;

  [[nodiscard]] Status Prepare();
  void Start();
  void Stop();
  // All gaps longer than kShortestMs, those that still go on included.
  [[nodiscard]] std::vector<Gap> Gaps() const;

  static constexpr std::int64_t kShortestMs = 50;

 private:
  struct Probe {
    std::string row;  // empty: asks the master
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
