// Shared by the programs that measure a cluster: a cluster of processes, distributions of times, a bare append and sync
// for comparison, and clients that measure how long a region was unavailable.
#pragma once

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "chaos/cluster/process_cluster.h"
#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/client/admin.h"
#include "common/client/table.h"

namespace ratchet::bench {

[[noreturn]] void EndWith(const Error& error);

// A failure ends the program with its reason.
template <class T>
void Require(const Result<T>& result) {
  if (!result.ok()) EndWith(result.error());
}
template <class T>
T Take(Result<T> result) {
  Require(result);
  return std::move(*result);
}

[[nodiscard]] double MillisSince(TimePoint begin);

struct Spread {
  std::vector<double> samples;
  [[nodiscard]] double At(double share);
  void Print(const char* what);  // p50, p90, p99, max, in ms
};

// Writes one record of the size of a procedure's over zeros and syncs it, as the procedure store does.
class BareAppend {
 public:
  explicit BareAppend(const std::filesystem::path& path);
  ~BareAppend();
  BareAppend(const BareAppend&) = delete;
  BareAppend& operator=(const BareAppend&) = delete;
  [[nodiscard]] double Once();  // ms

 private:
  int fd_;
  std::int64_t offset_ = 0;
};

// Made in `dir`, which is removed before and after.
class BenchCluster {
 public:
  struct Options {
    std::filesystem::path dir;
    std::filesystem::path bin;  // empty: the folder of this program
    int masters = 1;
    int servers = 2;
    std::vector<std::string> master_flags;
    std::vector<std::string> server_flags{};
  };
  explicit BenchCluster(const Options& options);
  ~BenchCluster();
  BenchCluster(const BenchCluster&) = delete;
  BenchCluster& operator=(const BenchCluster&) = delete;

  [[nodiscard]] chaos::ProcessCluster& cluster() { return *cluster_; }
  [[nodiscard]] client::Connection& connection() { return *connection_; }
  [[nodiscard]] client::Admin admin() { return client::Admin(*connection_); }
  [[nodiscard]] const std::filesystem::path& dir() const { return dir_; }
  // Number of syncs of the active master's procedure store.
  [[nodiscard]] std::uint64_t StoreSyncs();

 private:
  const std::filesystem::path dir_;
  std::unique_ptr<chaos::ProcessCluster> cluster_;
  std::unique_ptr<client::Connection> connection_;
};

// Puts and gets in turn, one thread a row, a few milliseconds apart. The client repeats an operation until it is
// answered, so its duration is the time in which the region was unavailable. An operation that is refused or not
// answered in time ends the measurement.
class Probes {
 public:
  Probes(client::Connection& connection, TableName table, const std::vector<std::string>& rows);
  ~Probes();
  Probes(const Probes&) = delete;
  Probes& operator=(const Probes&) = delete;

  // Discards the results so far; running operations count for the next measurement.
  void Reset();
  [[nodiscard]] double Longest();  // ms, since Reset
  [[nodiscard]] std::uint64_t operations();

 private:
  void Run(const std::string& row);

  client::Connection& connection_;
  const TableName table_;
  std::atomic<bool> stopping_{false};
  Mutex mutex_;
  double longest_ GUARDED_BY(mutex_) = 0;
  std::uint64_t operations_ GUARDED_BY(mutex_) = 0;
  std::vector<std::thread> threads_;
};

}  // namespace ratchet::bench
