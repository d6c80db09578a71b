// executor_bench [--procs N] [--inflight M[,M...]] [--children C] [--workers W] [--dir PATH]: durable steps per second of the
// executor on the real store, one run per number of procedures in flight, against what the same disk gives to a bare append
// and sync. Each procedure (and each of C children) has three durable steps. Allocations are counted over the whole process,
// processor time too (user and system, all threads).
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutex.h"
#include "common/io/disk.h"
#include "procedure/executor.h"
#include "procedure/state_machine_procedure.h"
#include "procedure/store/wal_store.h"

namespace {

std::atomic<std::uint64_t> allocations{0};

void* Allocate(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t size) { return Allocate(size); }
void* operator new[](std::size_t size) { return Allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t /*size*/) noexcept { std::free(memory); }

namespace ratchet::procedure {
namespace {

using BenchClock = std::chrono::steady_clock;

double SecondsSince(BenchClock::time_point begin) {
  return std::chrono::duration<double>(BenchClock::now() - begin).count();
}

struct BenchData {
  std::string bytes;
  [[nodiscard]] std::string SerializeAsString() const { return bytes; }
  bool ParseFromArray(const char* data, int size) {
    bytes.assign(data, static_cast<std::size_t>(size));
    return true;
  }
};

// Three durable steps with nothing to do; the first may spawn children.
class BenchProcedure final : public StateMachineProcedure<BenchProcedure, BenchData> {
 public:
  using StateMachineProcedure::StateMachineProcedure;
  static constexpr std::string_view kTypeName = "Bench";
  enum class State : StepNo { kOne = 1, kTwo = 2, kThree = 3 };
  static constexpr auto Steps() {
    return std::array{On(State::kOne, "ONE", &BenchProcedure::One, kNothingToUndo),
                      On(State::kTwo, "TWO", &BenchProcedure::Two, kNothingToUndo),
                      On(State::kThree, "THREE", &BenchProcedure::Three, kNothingToUndo)};
  }

 private:
  StepOutcome One(StepContext&) {
    const int children = std::atoi(data_.bytes.c_str());
    std::vector<ProcedurePtr> spawned;
    for (int i = 0; i < children; ++i) spawned.push_back(std::make_unique<BenchProcedure>(BenchData{std::string(64, '0')}));
    return SpawnThen(State::kTwo, std::move(spawned));
  }
  StepOutcome Two(StepContext&) { return GoTo(State::kThree); }
  StepOutcome Three(StepContext&) { return Done{}; }
};

std::string Option(int argc, char** argv, const std::string& name, const std::string& fallback) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (argv[i] == name) return argv[i + 1];
  }
  return fallback;
}
std::size_t Count(int argc, char** argv, const std::string& name, const std::string& fallback) {
  return std::strtoull(Option(argc, argv, name, fallback).c_str(), nullptr, 10);
}

double Percentile(std::vector<double> values, double percent) {
  std::sort(values.begin(), values.end());
  if (values.empty()) return 0;
  return values[std::min(values.size() - 1, static_cast<std::size_t>(static_cast<double>(values.size()) * percent / 100))];
}

double ProcessorSeconds() {
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Microseconds of appends of 200 bytes, each with its sync.
std::vector<double> BareSync(const std::string& directory) {
  const std::string path = directory + "/bare";
  const int file = ::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
  const std::string bytes(200, 'x');
  if (file < 0) return {};
  // Into a zero-filled file, as the store writes.
  const std::string zeroes(1 << 20, '\0');
  if (::pwrite(file, zeroes.data(), zeroes.size(), 0) < 0 || ::fsync(file) != 0) return {};
  std::vector<double> times;
  for (int i = 0; i < 500; ++i) {
    const auto begin = BenchClock::now();
    if (::write(file, bytes.data(), bytes.size()) < 0 || ::fdatasync(file) != 0) return {};
    times.push_back(SecondsSince(begin) * 1e6);
  }
  ::close(file);
  return times;
}

// Keeps `window` procedures in flight until `total` have finished.
class Load {
 public:
  Load(Executor& executor, std::size_t total, std::size_t window, std::string data)
      : executor_(executor), total_(total), window_(window), data_(std::move(data)) {}

  void Run() {
    std::size_t begun = 0;
    while (begun < total_) {
      std::size_t room = 0;
      {
        MutexLock lock(mutex_);
        while (in_flight_ > window_ - std::max<std::size_t>(window_ / 8, 1)) cond_.Wait(mutex_);
        room = std::min(window_ - in_flight_, total_ - begun);
        in_flight_ += room;
      }
      for (; room > 0; --room, ++begun) Begin();
    }
    MutexLock lock(mutex_);
    while (in_flight_ > 0) cond_.Wait(mutex_);
  }

 private:
  void Begin() {
    executor_.SubmitAsync(std::make_unique<BenchProcedure>(BenchData{data_}), {}, [this](const Result<ProcId>& pid) {
      if (!pid.ok()) std::abort();
      executor_.OnFinished(*pid, [this](const ProcedureResult&) {
        MutexLock lock(mutex_);
        --in_flight_;
        // Only when Run has something to do.
        if (in_flight_ == 0 || in_flight_ == window_ - std::max<std::size_t>(window_ / 8, 1)) cond_.NotifyAll();
      });
    });
  }

  Executor& executor_;
  const std::size_t total_;
  const std::size_t window_;
  const std::string data_;
  Mutex mutex_;
  CondVar cond_;
  std::size_t in_flight_ GUARDED_BY(mutex_) = 0;
};

struct Run {
  double steps_per_second = 0;
  double allocations_per_step = 0;
  double processor_us_per_step = 0;
};

Run Measure(Executor& executor, WalStore& store, std::size_t procs, std::size_t children, std::size_t window) {
  const StoreMetrics before = store.metrics();
  const std::uint64_t allocations_before = allocations;
  const double processor_before = ProcessorSeconds();
  const auto begin = BenchClock::now();
  Load(executor, procs, window, std::to_string(children)).Run();
  const double seconds = SecondsSince(begin);
  const double steps = static_cast<double>(procs) * 3 * static_cast<double>(children + 1);
  const StoreMetrics after = store.metrics();
  const auto syncs = static_cast<double>(after.syncs - before.syncs);
  Run run;
  run.steps_per_second = steps / seconds;
  run.allocations_per_step = static_cast<double>(allocations - allocations_before) / steps;
  run.processor_us_per_step = (ProcessorSeconds() - processor_before) * 1e6 / steps;
  fmt::print("{:>9} in flight: {:>7.0f} durable steps/s ({:.0f} in {:.2f} s), {:.1f} us of processor, {:.1f} allocations, "
             "{:.0f} bytes and {:.5f} syncs a step, {:.0f} records a sync\n",
             window, run.steps_per_second, steps, seconds, run.processor_us_per_step, run.allocations_per_step,
             static_cast<double>(after.bytes_written - before.bytes_written) / steps, syncs / steps,
             static_cast<double>(after.records - before.records) / syncs);
  std::fflush(stdout);
  return run;
}

int Main(int argc, char** argv) {
  ConfigureLog({LogLevel::kError, ""});
  const std::string directory =
      Option(argc, argv, "--dir", (std::filesystem::temp_directory_path() / "executor_bench").string());
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  const std::size_t procs = Count(argc, argv, "--procs", "1000000");
  const std::size_t children = Count(argc, argv, "--children", "0");

  SystemClock clock;
  WalStore store(io::PosixDisk().OpenOrMake(directory + "/procedures").value(),
                 io::PosixDisk().OpenOrMake(directory + "/quarantine").value(), clock, {});
  ProcedureRegistry registry;
  registry.Register<BenchProcedure>();
  const auto workers = MakeThreadWorkers({Count(argc, argv, "--workers", "2"), 0, 0, "PEWorker"});
  const auto timers = MakeThreadTimers();
  Executor::Options options;
  options.log_steps = false;
  options.max_results = 1'000;
  options.evict_interval = Millis{100};
  Executor executor({store, registry, *workers, clock, *timers, {}}, options);
  if (!executor.Recover().ok()) return 1;
  executor.Start();

  // Turn about, so that what else the machine does meets both alike.
  std::vector<double> bare;
  std::vector<double> single;
  for (int round = 0; round < 5; ++round) {
    const std::vector<double> more = BareSync(directory);
    bare.insert(bare.end(), more.begin(), more.end());
    for (int i = 0; i < 200; ++i) {
      const auto begin = BenchClock::now();
      Load(executor, 1, 1, "0").Run();
      single.push_back(SecondsSince(begin) * 1e6 / 4);  // the insert and three steps
    }
  }
  const double bare_us = Percentile(bare, 50);
  const double step_us = Percentile(single, 50);
  fmt::print("bare append + sync        : p50 {:.0f} us, p99 {:.0f} us\n", bare_us, Percentile(bare, 99));
  fmt::print("one durable step, idle    : p50 {:.0f} us, p99 {:.0f} us ({:.2f} x bare)\n", step_us, Percentile(single, 99),
             step_us / bare_us);
  std::istringstream windows(Option(argc, argv, "--inflight", "1000,10000,100000,1000000"));
  std::string window;
  while (std::getline(windows, window, ',')) {
    const std::size_t in_flight = std::max<std::size_t>(std::strtoull(window.c_str(), nullptr, 10), 1);
    const Run run = Measure(executor, store, procs, children, in_flight);
    fmt::print("RESULT [procs={}, children={}, in_flight={}, steps_per_second={:.0f}, cpu_us_per_step={:.2f}, "
               "allocations_per_step={:.1f}, bare_us={:.0f}, idle_step_us={:.0f}]\n",
               procs, children, in_flight, run.steps_per_second, run.processor_us_per_step, run.allocations_per_step,
               bare_us, step_us);
  }
  executor.Stop();
  store.Stop();
  std::filesystem::remove_all(directory);
  return 0;
}

}  // namespace
}  // namespace ratchet::procedure

int main(int argc, char** argv) { return ratchet::procedure::Main(argc, argv); }
