// store_bench: measures the store's procedures per second, compared with a bare loop that writes and syncs the same
// bytes.
//
// Options as HBase's ProcedureStorePerformanceEvaluation: -threads 20 -procs 1000000 -state_size 1024 -sync; also
// -in_flight 4096 (second run, without waiting threads), -reload 1000000 (records of 200 bytes to load; 0: none), -dir
// PATH. Each procedure is one insert and one update. Store and bare loop alternate, -rounds 20 times, so that both have
// the same disk and the same load. After timing, the store is reopened and every record verified.
#include <malloc.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/mutex.h"
#include "common/io/disk.h"
#include "procedure/store/wal_store.h"

namespace {

using namespace ratchet;             // NOLINT(google-build-using-namespace): a program's main
using namespace ratchet::procedure;  // NOLINT(google-build-using-namespace)

struct Options {
  std::uint64_t threads = 20;
  std::uint64_t procs = 200'000;
  std::uint64_t state_size = 1024;
  std::uint64_t in_flight = 4096;
  std::uint64_t reload = 1'000'000;
  std::uint64_t rounds = 20;
  std::string dir = "store_bench.data";
};

SystemClock system_clock_now;

double SecondsSince(TimePoint start) { return std::chrono::duration<double>(system_clock_now.Now() - start).count(); }

// A failure ends the program with its reason.
template <class T>
void Require(const Result<T>& result) {
  if (result.ok()) return;
  std::fprintf(stderr, "store_bench: %s\n", result.error().ToString().c_str());
  std::exit(1);
}

std::string State(std::uint64_t pid, std::uint64_t version, std::uint64_t size) {
  std::string state(size, static_cast<char>('a' + (pid + version) % 26));
  return state.replace(0, std::min<std::size_t>(size, 8),
                       std::to_string(pid).substr(0, std::min<std::size_t>(size, 8)));
}

StoreBatch Put(std::uint64_t pid, std::uint64_t version, std::uint64_t size) {
  StoreBatch batch;
  batch.upserts.push_back({ProcId(pid), version, State(pid, version, size)});
  return batch;
}

std::unique_ptr<WalStore> Open(const std::string& dir) {
  WalStoreOptions options;
  options.owner = "store_bench";
  return std::make_unique<WalStore>(io::PosixDisk().OpenOrMake(dir + "/procedures").value(),
                                    io::PosixDisk().OpenOrMake(dir + "/quarantine").value(), system_clock_now, options);
}

// Waits until the spares are filled, so that both runs and the bare loop write into zero-filled files.
void Settle() { std::this_thread::sleep_for(std::chrono::milliseconds(300)); }

// The procedures of one round.
struct Pids {
  std::uint64_t first = 1;
  std::uint64_t last = 0;
};

// `threads` threads, each waiting for its own commits, as HBase's tool does.
void RunWaiting(WalStore& store, const Options& options, Pids pids) {
  std::atomic<std::uint64_t> next{pids.first};
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < options.threads; ++i) {
    threads.emplace_back([&] {
      for (std::uint64_t pid = next++; pid <= pids.last; pid = next++) {
        for (const std::uint64_t version : {1, 2}) Require(store.CommitAndWait(Put(pid, version, options.state_size)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// `in_flight` procedures at any time, moved on by the continuations, as the executor uses the store.
class InFlight {
 public:
  InFlight(WalStore& store, const Options& options, Pids pids)
      : store_(store), options_(options), last_(pids.last), next_(pids.first), left_(pids.last + 1 - pids.first) {}
  void Run() {
    for (std::uint64_t i = 0; i < options_.in_flight; ++i) Begin();
    MutexLock lock(mutex_);
    while (left_ > 0) cond_.Wait(mutex_);
  }

 private:
  void Begin() {
    const std::uint64_t pid = next_++;
    if (pid > last_) return;
    store_.Commit(Put(pid, 1, options_.state_size), [this, pid](Result<std::uint64_t> inserted) {
      Require(inserted);
      store_.Commit(Put(pid, 2, options_.state_size), [this](Result<std::uint64_t> updated) {
        Require(updated);
        Begin();
        if (left_ > 1) {
          --left_;
          return;
        }
        MutexLock lock(mutex_);
        left_ = 0;
        cond_.NotifyOne();
      });
    });
  }
  WalStore& store_;
  const Options& options_;
  const std::uint64_t last_;
  std::atomic<std::uint64_t> next_;
  std::atomic<std::uint64_t> left_;  // counted on the store's writer thread only
  Mutex mutex_;
  CondVar cond_;
};

// Writes and syncs the same bytes in the same batch sizes: into a file that grows, or into one that was filled with
// zeros.
class BareLoop {
 public:
  BareLoop(const std::string& dir, bool filled)
      : directory_(io::PosixDisk().OpenOrMake(dir).value()),
        name_(filled ? "bare.filled" : "bare.grows"),
        filled_(filled) {}

  void Run(std::uint64_t syncs, std::uint64_t bytes) {
    const std::uint64_t each = std::max<std::uint64_t>(1, bytes / std::max<std::uint64_t>(1, syncs));
    const std::string data(each, 'x');
    for (std::uint64_t i = 0; i < syncs; ++i) {
      if (file_ == nullptr || file_->size() + each > kFile) NewFile();
      const TimePoint start = system_clock_now.Now();
      file_->Append(data).value();
      file_->Sync().value();
      seconds_ += SecondsSince(start);
    }
  }
  [[nodiscard]] double seconds() const { return seconds_; }  // without the time to fill the file
  [[nodiscard]] double filling() const { return filling_; }

 private:
  static constexpr std::uint64_t kFile = 16U << 20;
  void NewFile() {
    const TimePoint start = system_clock_now.Now();
    if (file_ != nullptr) directory_->Unlink(name_).value();
    file_ = directory_->Create(name_).value();
    if (!filled_) return;
    file_->ZeroFill(kFile).value();
    file_->Sync().value();
    filling_ += SecondsSince(start);
  }
  const std::unique_ptr<io::Directory> directory_;
  const std::string name_;
  const bool filled_;
  std::unique_ptr<io::WritableFile> file_;
  double seconds_ = 0;
  double filling_ = 0;
};

void Verify(const std::string& dir, std::uint64_t procs, std::uint64_t size) {
  const TimePoint start = system_clock_now.Now();
  const auto store = Open(dir);
  const LoadedState loaded = store->Claim().value();
  if (loaded.records.size() != procs) std::printf("FAIL: %zu records, expected %lu\n", loaded.records.size(), procs);
  for (std::uint64_t i = 0; i < loaded.records.size(); ++i) {
    const ProcedureUpsert& record = loaded.records[i];
    const bool good = record.pid.value() == i + 1 && record.version == 2 && record.bytes == State(i + 1, 2, size);
    if (!good) {
      std::printf("FAIL: pid %lu\n", i + 1);
      std::exit(1);
    }
  }
  std::printf("  reopened and verified %zu records in %.2f s\n", loaded.records.size(), SecondsSince(start));
}

template <class Run>
void Measure(const std::string& kind, std::uint64_t in_flight, const Options& options, Run run) {
  std::filesystem::remove_all(options.dir);
  StoreMetrics metrics;
  double seconds = 0;
  BareLoop grows(options.dir, false);
  BareLoop filled(options.dir, true);
  {
    const auto store = Open(options.dir);
    Require(store->Claim());
    for (std::uint64_t round = 0; round < options.rounds; ++round) {
      const Pids pids{options.procs * round / options.rounds + 1, options.procs * (round + 1) / options.rounds};
      Settle();
      const TimePoint start = system_clock_now.Now();
      run(*store, pids);
      seconds += SecondsSince(start);
      const StoreMetrics before = std::exchange(metrics, store->metrics());
      grows.Run(metrics.syncs - before.syncs, metrics.bytes_written - before.bytes_written);
      filled.Run(metrics.syncs - before.syncs, metrics.bytes_written - before.bytes_written);
    }
  }
  const auto syncs = static_cast<double>(metrics.syncs);
  const double rate = static_cast<double>(options.procs) / seconds;
  const double records_per_sync = static_cast<double>(metrics.records) / syncs;
  const double with_filling = filled.seconds() + filled.filling();
  std::printf(
      "%lu in flight, %s: %.0f procedures/s (%.2f s); %lu syncs, %.1f records a sync, %.0f bytes a sync, %lu rolls\n",
      in_flight, kind == "waiting" ? "each with a waiting thread" : "moved on by their continuations", rate, seconds,
      metrics.syncs, records_per_sync, static_cast<double>(metrics.bytes_written) / syncs, metrics.rolls);
  std::printf(
      "  bare loop, same bytes in the same batches: %.2f s into a file that grows (the store reaches %.0f %%); "
      "%.2f s into zeros that were there (%.0f %%), %.2f s with the time to put them there (%.0f %%)\n",
      grows.seconds(), grows.seconds() / seconds * 100, filled.seconds(), filled.seconds() / seconds * 100,
      with_filling, with_filling / seconds * 100);
  std::printf("  a sync: %.1f us here, %.1f us into a file that grows, %.1f us into zeros\n", seconds / syncs * 1e6,
              grows.seconds() / syncs * 1e6, filled.seconds() / syncs * 1e6);
  Verify(options.dir, options.procs, options.state_size);
  std::printf(
      "RESULT [kind=%s, in_flight=%lu, procs_per_second=%.0f, of_bare=%.2f, of_bare_filled=%.2f, "
      "of_bare_with_filling=%.2f, syncs=%lu, records_per_sync=%.1f]\n",
      kind.c_str(), in_flight, rate, grows.seconds() / seconds, filled.seconds() / seconds, with_filling / seconds,
      metrics.syncs, records_per_sync);
  std::fflush(stdout);
  std::filesystem::remove_all(options.dir);
}

std::uint64_t ResidentBytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  unsigned long total = 0;
  unsigned long resident = 0;
  if (file == nullptr || std::fscanf(file, "%lu %lu", &total, &resident) != 2) return 0;
  std::fclose(file);
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

void MeasureReload(const Options& options, std::uint64_t updates, bool delete_half) {
  constexpr std::uint64_t kSize = 200;
  constexpr std::uint64_t kBatch = 100;
  std::filesystem::remove_all(options.dir);
  {
    const auto store = Open(options.dir);
    Require(store->Claim());
    for (std::uint64_t version = 1; version <= 1 + updates; ++version) {
      for (std::uint64_t pid = 1; pid <= options.reload; pid += kBatch) {
        StoreBatch batch;
        for (std::uint64_t i = pid; i < pid + kBatch && i <= options.reload; ++i) {
          batch.upserts.push_back({ProcId(i), version, State(i, version, kSize)});
        }
        store->Commit(std::move(batch), {});
      }
    }
    for (std::uint64_t pid = 2; delete_half && pid <= options.reload; pid += 2) {
      StoreBatch batch;
      batch.deletes.push_back(ProcId(pid));
      store->Commit(std::move(batch), {});
    }
    store->Stop();
  }
  malloc_trim(0);  // free memory must not hide the memory that the next run uses
  const auto before = static_cast<double>(ResidentBytes());
  const TimePoint start = system_clock_now.Now();
  const auto store = Open(options.dir);
  const LoadedState loaded = store->Claim().value();
  const double seconds = SecondsSince(start);
  const double each =
      (static_cast<double>(ResidentBytes()) - before) / static_cast<double>(loaded.records.size()) - kSize;
  std::printf(
      "reload of %zu procedures of %lu bytes (%lu updates each%s): %.2f s, %.0f bytes of memory each beyond them\n",
      loaded.records.size(), kSize, updates, delete_half ? ", half deleted" : "", seconds, each);
  std::printf("RESULT [kind=reload, updates=%lu, records=%zu, seconds=%.2f, bytes_each=%.0f]\n", updates,
              loaded.records.size(), seconds, each);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  const std::map<std::string, std::uint64_t*> numbers = {
      {"-threads", &options.threads},     {"-procs", &options.procs},   {"-state_size", &options.state_size},
      {"-in_flight", &options.in_flight}, {"-reload", &options.reload}, {"-rounds", &options.rounds}};
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const auto number = numbers.find(flag);
    if (flag == "-sync") continue;  // always
    if (i + 1 < argc && number != numbers.end()) {
      *number->second = std::strtoull(argv[++i], nullptr, 10);
    } else if (i + 1 < argc && flag == "-dir") {
      options.dir = argv[++i];
    } else {
      std::fprintf(stderr,
                   "usage: store_bench [-threads N] [-procs N] [-state_size BYTES] [-sync] [-in_flight N] [-reload N] "
                   "[-rounds N] [-dir PATH]\n");
      return 1;
    }
  }
  LogOptions quiet;
  quiet.level = LogLevel::kWarn;
  ConfigureLog(quiet);
  if (options.threads > 0) {
    Measure("waiting", options.threads, options, [&](WalStore& store, Pids pids) { RunWaiting(store, options, pids); });
  }
  if (options.in_flight > 0) {
    Measure("in_flight", options.in_flight, options,
            [&](WalStore& store, Pids pids) { InFlight(store, options, pids).Run(); });
  }
  if (options.reload > 0) {
    MeasureReload(options, 0, false);
    MeasureReload(options, 5, true);
  }
  std::filesystem::remove_all(options.dir);
  return 0;
}
