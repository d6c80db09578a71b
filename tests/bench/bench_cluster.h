// What the programs that measure a cluster share: a cluster of processes, spreads of times, a bare append and sync to
// compare with, and clients that tell how long a region could not be used.
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

// A failure ends the measurement with its reason.
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

// One record of the size of a procedure's, written over zeros and synced, as the procedure store does it.
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
    std::filesystem::path bin;  // empty: beside this program
    int masters = 1;
    int servers = 2;
    std::vector<std::string> master_flags;
  };
  explicit BenchCluster(const Options& options);
  ~BenchCluster();
  BenchCluster(const BenchCluster&) = delete;
  BenchCluster& operator=(const BenchCluster&) = delete;

  [[nodiscard]] chaos::ProcessCluster& cluster() { return *cluster_; }
  [[nodiscard]] client::Connection& connection() { return *connection_; }
  [[nodiscard]] client::Admin admin() { return client::Admin(*connection_); }
  [[nodiscard]] const std::filesystem::path& dir() const { return dir_; }
  // Of the active master's procedure store.
  [[nodiscard]] std::uint64_t StoreSyncs();

 private:
  const std::filesystem::path dir_;
  std::unique_ptr<chaos::ProcessCluster> cluster_;
  std::unique_ptr<client::Connection> connection_;
};

// Puts and gets in turn, one thread a row, a few milliseconds apart. An operation is repeated by the client until it is
// answered, so that its length is the time in which the region could not be used. One that is not answered in time, or
// that is refused, ends the measurement.
class Probes {
 public:
  Probes(client::Connection& connection, TableName table, const std::vector<std::string>& rows);
  ~Probes();
  Probes(const Probes&) = delete;
  Probes& operator=(const Probes&) = delete;

  // Forgets what was until now: operations that have begun count for what follows.
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
