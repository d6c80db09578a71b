// Shared code of all workloads: counting outcomes, threads that can be stopped, tables that are spread over all
// servers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "chaos/history/operation.h"
#include "chaos/workloads/workload.h"
#include "common/base/mutex.h"
#include "common/base/prng.h"
#include "common/model/table_name.h"

namespace ratchet::chaos {

// Time limit of one operation of a load, with retries: short, so that Stop ends soon while the cluster is down.
inline constexpr Millis kLoadTimeout{12'000};
// Time limit of one operation of a check: generous, because the cluster has settled.
inline constexpr Millis kCheckTimeout{60'000};
// Pause between two operations of a thread: the load is steady but not full, so that a fault's effect shows.
inline constexpr Millis kThinkTime{4};

// Returns kFailed only if no attempt can have been executed; after any other error the outcome is unknown.
[[nodiscard]] OperationOutcome OutcomeOf(const Error& error);

// Thread-safe.
class Tally {
 public:
  void Add(OperationOutcome outcome);
  [[nodiscard]] WorkloadCounters Snapshot() const;

 private:
  const SystemClock clock_{};
  mutable Mutex mutex_;
  WorkloadCounters counters_ GUARDED_BY(mutex_);
};

// Start and Stop from one thread; the rest from any.
class LoadThreads {
 public:
  using Body = std::function<void(int thread, Prng& prng)>;
  LoadThreads() = default;
  ~LoadThreads() { Stop(); }
  LoadThreads(const LoadThreads&) = delete;
  LoadThreads& operator=(const LoadThreads&) = delete;

  // Starts the threads, each with its own random source derived from `seed`. The body loops until stopping().
  void Start(std::string_view name, int threads, std::uint64_t seed, const Body& body);
  void AskToStop();
  void Stop();  // asks and joins
  [[nodiscard]] bool stopping() const;
  // Sleeps; ends early when stopping.
  void Pause(Millis time);

 private:
  mutable Mutex mutex_;
  CondVar wake_;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

// Returns keys that split the space of two-byte prefixes into `regions` parts of equal size; `hex`: prefixes have four
// hex digits.
[[nodiscard]] std::vector<std::string> EvenPrefixes(int regions, bool hex);
// Returns the lowest key prefix of region `region` of a table that was split at EvenPrefixes(regions, true).
[[nodiscard]] std::string PrefixOfRegion(int region, int regions);

inline constexpr const char* kLoadFamily = "f";
// Creates a table with one family and waits for it.
[[nodiscard]] Status MakeLoadTable(client::Connection& connection, const TableName& table,
                                   const std::vector<std::string>& split_keys);

[[nodiscard]] std::string Counted(std::uint64_t number, std::string_view noun);  // "1 row", "2 rows"

}  // namespace ratchet::chaos
