// executor_bench [--procs N] [--inflight M[,M...]] [--children C] [--workers W] [--dir PATH]: durable steps per second
// of the executor on the real store, one run per number of procedures in flight, compared with a bare append and sync
// on the same disk. Each procedure (and each of C children) has three durable steps. Allocations are counted over the
// whole process, processor time too (user and system, all threads).
//
// A run begins with M procedures in flight: they are submitted while their type is paused (this time counts), their
// memory is measured, and single steps of another type are timed meanwhile. Then the type is resumed, and new
// procedures replace ended ones until N (at least M) were submitted.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <iostream>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutex.h"
#include "common/io/disk.h"
#include "procedure/api/executor.h"
#include "procedure/api/state_machine_procedure.h"
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

// Three empty durable steps; the first may spawn children.
class BenchProcedure final : public StateMachineProcedure<BenchProcedure, BenchData> {
 public:
  using StateMachineProcedure::StateMachineProcedure;
  static constexpr std::string_view kTypeName = "Bench";
  static constexpr auto Steps() {
    return std::array{On<&BenchProcedure::One>(1, "ONE", kNothingToUndo),
                      On<&BenchProcedure::Two>(2, "TWO", kNothingToUndo),
                      On<&BenchProcedure::Three>(3, "THREE", kNothingToUndo)};
  }

 private:
  StepOutcome One(StepContext&) {
    const int children = std::atoi(data_.bytes.c_str());
    std::vector<ProcedurePtr> spawned;
    for (int i = 0; i < children; ++i)
      spawned.push_back(std::make_unique<BenchProcedure>(BenchData{std::string(64, '0')}));
    return SpawnThen<&BenchProcedure::Two>(std::move(spawned));
  }
  StepOutcome Two(StepContext&) { return GoTo<&BenchProcedure::Three>(); }
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
  return values[std::min(values.size() - 1,
                         static_cast<std::size_t>(static_cast<double>(values.size()) * percent / 100))];
}

double ProcessorSeconds() {
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Returns the microseconds of appends of 200 bytes, each with a sync.
std::vector<double> BareSync(const std::string& directory) {
  const std::string path = directory + "/bare";
  const int file = ::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
  const std::string bytes(200, 'x');
  if (file < 0) return {};
  // Writes into a zero-filled file, as the store does.
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

// Has the steps of BenchProcedure under another name: runs while the others are paused.
class SingleProcedure final : public StateMachineProcedure<SingleProcedure, BenchData> {
 public:
  using StateMachineProcedure::StateMachineProcedure;
  static constexpr std::string_view kTypeName = "Single";
  static constexpr auto Steps() {
    return std::array{On<&SingleProcedure::One>(1, "ONE", kNothingToUndo),
                      On<&SingleProcedure::Two>(2, "TWO", kNothingToUndo),
                      On<&SingleProcedure::Three>(3, "THREE", kNothingToUndo)};
  }

 private:
  StepOutcome One(StepContext&) { return GoTo<&SingleProcedure::Two>(); }
  StepOutcome Two(StepContext&) { return GoTo<&SingleProcedure::Three>(); }
  StepOutcome Three(StepContext&) { return Done{}; }
};

std::size_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t all = 0;
  std::size_t resident = 0;
  statm >> all >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

// Keeps up to `window` procedures of type P in flight until the requested number has finished.
template <class P>
class Load {
 public:
  Load(Executor& executor, std::size_t window, std::string data)
      : executor_(executor), window_(window), data_(std::move(data)) {}

  // Submits the maximum number in flight, and waits until they are durable.
  void Fill() {
    Begin(window_);
    MutexLock lock(mutex_);
    while (durable_ < window_) cond_.Wait(mutex_);
  }
  // Runs until `total` have finished.
  void Run(std::size_t total) {
    while (begun_ < total) {
      std::size_t room = 0;
      {
        MutexLock lock(mutex_);
        while (in_flight_ > LowMark()) cond_.Wait(mutex_);
        room = std::min(window_ - in_flight_, total - begun_);
      }
      Begin(room);
    }
    MutexLock lock(mutex_);
    while (in_flight_ > 0) cond_.Wait(mutex_);
  }

 private:
  [[nodiscard]] std::size_t LowMark() const { return window_ - std::max<std::size_t>(window_ / 8, 1); }

  void Begin(std::size_t count) {
    begun_ += count;
    {
      MutexLock lock(mutex_);
      in_flight_ += count;
    }
    for (; count > 0; --count) {
      executor_.SubmitAsync(std::make_unique<P>(BenchData{data_}), {}, [this](const Result<ProcId>& pid) {
        if (!pid.ok()) std::abort();
        if (++durable_ == window_) {
          MutexLock lock(mutex_);
          cond_.NotifyAll();
        }
        // this object may be destroyed from here on
        executor_.OnFinished(*pid, [this](const ProcedureResult&) { Ended(); });
      });
    }
  }
  void Ended() {
    MutexLock lock(mutex_);
    --in_flight_;
    // Only when Run has something to do.
    if (in_flight_ == 0 || in_flight_ == LowMark()) cond_.NotifyAll();
  }

  Executor& executor_;
  const std::size_t window_;
  const std::string data_;
  std::size_t begun_ = 0;
  std::atomic<std::size_t> durable_{0};
  Mutex mutex_;
  CondVar cond_;
  std::size_t in_flight_ GUARDED_BY(mutex_) = 0;
};

// Microseconds of a durable step of a procedure that is alone in running: the insert and three steps.
void TimeSingleSteps(Executor& executor, int procedures, std::vector<double>& times) {
  for (int i = 0; i < procedures; ++i) {
    const auto begin = BenchClock::now();
    Load<SingleProcedure>(executor, 1, "").Run(1);
    times.push_back(SecondsSince(begin) * 1e6 / 4);
  }
}

// Blocks until the pause of BenchProcedures holds, or is over.
void SetPaused(Executor& executor, bool paused) {
  std::promise<void> done;
  const OperatorNote note{"executor_bench", "to begin with all in flight"};
  if (paused) {
    executor.Pause(PauseScope::Type(std::string(BenchProcedure::kTypeName)), note, Millis{1'000},
                   [&done](const Result<PauseReport>&) { done.set_value(); });
  } else {
    executor.Resume(PauseScope::Type(std::string(BenchProcedure::kTypeName)), note,
                    [&done](const Status&) { done.set_value(); });
  }
  done.get_future().wait();
}

struct Run {
  std::size_t procs = 0;
  double steps = 0;
  double fill_seconds = 0;
  double run_seconds = 0;
  double bytes_each = 0;  // bytes of memory per procedure, with all in flight
  std::vector<double> single_us;
  double allocations = 0;
  double processor_us = 0;
  double bytes_written = 0;
  double syncs = 0;
  double records = 0;
};

Run Measure(Executor& executor, WalStore& store, std::size_t procs, std::size_t children, std::size_t window) {
  Run run;
  run.procs = std::max(procs, window);
  run.steps = static_cast<double>(run.procs) * 3 * static_cast<double>(children + 1);
  SetPaused(executor, true);
  const StoreMetrics before = store.metrics();
  const auto resident = static_cast<double>(ResidentBytes());
  std::uint64_t allocated = allocations;
  double processor = ProcessorSeconds();
  auto begin = BenchClock::now();
  Load<BenchProcedure> load(executor, window, std::to_string(children));
  load.Fill();
  run.fill_seconds = SecondsSince(begin);
  run.bytes_each = (static_cast<double>(ResidentBytes()) - resident) / static_cast<double>(window);
  run.allocations = static_cast<double>(allocations - allocated);
  run.processor_us = (ProcessorSeconds() - processor) * 1e6;
  const StoreMetrics filled = store.metrics();
  TimeSingleSteps(executor, 200, run.single_us);

  const StoreMetrics resumed = store.metrics();
  allocated = allocations;
  processor = ProcessorSeconds();
  begin = BenchClock::now();
  SetPaused(executor, false);
  load.Run(run.procs);
  run.run_seconds = SecondsSince(begin);
  run.allocations += static_cast<double>(allocations - allocated);
  run.processor_us += (ProcessorSeconds() - processor) * 1e6;
  const StoreMetrics after = store.metrics();
  const auto total = [&](std::uint64_t StoreMetrics::*counter) {
    return static_cast<double>(filled.*counter - before.*counter + after.*counter - resumed.*counter);
  };
  run.bytes_written = total(&StoreMetrics::bytes_written);
  run.syncs = total(&StoreMetrics::syncs);
  run.records = total(&StoreMetrics::records);
  return run;
}

void Print(const Run& run, std::size_t children, std::size_t window, double bare_us, double idle_us) {
  const double rate = run.steps / (run.fill_seconds + run.run_seconds);
  const double single = Percentile(run.single_us, 50);
  fmt::print(
      "{:>9} in flight: {:>7.0f} durable steps/s ({:.0f}: {:.2f} s to submit {}, {:.2f} s to run), {:.1f} us of "
      "processor, {:.1f} allocations, {:.0f} bytes and {:.5f} syncs a step, {:.0f} records a sync\n",
      window, rate, run.steps, run.fill_seconds, window, run.run_seconds, run.processor_us / run.steps,
      run.allocations / run.steps, run.bytes_written / run.steps, run.syncs / run.steps, run.records / run.syncs);
  fmt::print(
      "{:>9}            {:.0f} bytes of memory each; one durable step meanwhile: p50 {:.0f} us, p99 {:.0f} us "
      "({:.2f} x bare)\n",
      "", run.bytes_each, single, Percentile(run.single_us, 99), single / bare_us);
  fmt::print(
      "RESULT [procs={}, children={}, in_flight={}, steps_per_second={:.0f}, cpu_us_per_step={:.2f}, "
      "allocations_per_step={:.1f}, syncs_per_step={:.5f}, bytes_each={:.0f}, single_step_us={:.0f}, bare_us={:.0f}, "
      "idle_step_us={:.0f}]\n",
      run.procs, children, window, rate, run.processor_us / run.steps, run.allocations / run.steps,
      run.syncs / run.steps, run.bytes_each, single, bare_us, idle_us);
  std::fflush(stdout);
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
  registry.Register<SingleProcedure>();
  const auto workers = MakeThreadWorkers({Count(argc, argv, "--workers", "2"), 0, 0, "PEWorker"});
  const auto timers = MakeThreadTimers();
  Executor::Options options;
  options.log_steps = false;
  options.max_results = 1'000;
  options.evict_interval = Millis{100};
  Executor executor({store, registry, *workers, clock, *timers, {}}, options);
  if (!executor.Recover().ok()) return 1;
  executor.Start();

  // Alternates, so that other load of the machine affects both equally.
  std::vector<double> bare;
  std::vector<double> single;
  for (int round = 0; round < 5; ++round) {
    const std::vector<double> more = BareSync(directory);
    bare.insert(bare.end(), more.begin(), more.end());
    TimeSingleSteps(executor, 200, single);
  }
  const double bare_us = Percentile(bare, 50);
  const double step_us = Percentile(single, 50);
  fmt::print("bare append + sync        : p50 {:.0f} us, p99 {:.0f} us\n", bare_us, Percentile(bare, 99));
  fmt::print("one durable step, idle    : p50 {:.0f} us, p99 {:.0f} us ({:.2f} x bare)\n", step_us,
             Percentile(single, 99), step_us / bare_us);
  std::istringstream windows(Option(argc, argv, "--inflight", "1000,10000,100000,1000000"));
  std::string window;
  while (std::getline(windows, window, ',')) {
    const std::size_t in_flight = std::max<std::size_t>(std::strtoull(window.c_str(), nullptr, 10), 1);
    Print(Measure(executor, store, procs, children, in_flight), children, in_flight, bare_us, step_us);
  }
  executor.Stop();
  store.Stop();
  std::filesystem::remove_all(directory);
  return 0;
}

}  // namespace
}  // namespace ratchet::procedure

int main(int argc, char** argv) { return ratchet::procedure::Main(argc, argv); }
