// executor_bench [--procs N] [--inflight M] [--children C] [--workers W] [--dir PATH]: durable steps per second of the executor
// on the real store, against what the same disk gives to a bare append and sync.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutex.h"
#include "common/io/disk.h"
#include "procedure/executor.h"
#include "procedure/state_machine_procedure.h"
#include "procedure/store/wal_store.h"

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

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

// Microseconds of one append of 200 bytes with its sync, p50.
double BareSync(const std::string& directory) {
  const std::string path = directory + "/bare";
  const int file = ::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
  const std::string bytes(200, 'x');
  if (file < 0 || ::posix_fallocate(file, 0, 1 << 20) != 0) return 0;
  std::vector<double> times;
  for (int i = 0; i < 500; ++i) {
    const auto begin = BenchClock::now();
    if (::write(file, bytes.data(), bytes.size()) < 0 || ::fdatasync(file) != 0) return 0;
    times.push_back(SecondsSince(begin) * 1e6);
  }
  ::close(file);
  return Median(times);
}

// Keeps `window` procedures in flight until `total` have finished.
class Load {
 public:
  Load(Executor& executor, std::size_t total, std::size_t window, std::string data)
      : executor_(executor), total_(total), window_(window), data_(std::move(data)) {}

  void Run() {
    for (std::size_t i = 0; i < total_; ++i) {
      {
        MutexLock lock(mutex_);
        while (in_flight_ >= window_) cond_.Wait(mutex_);
        ++in_flight_;
      }
      executor_.SubmitAsync(std::make_unique<BenchProcedure>(BenchData{data_}), {}, [this](const Result<ProcId>& pid) {
        if (!pid.ok()) std::abort();
        executor_.OnFinished(*pid, [this](const ProcedureResult&) {
          MutexLock lock(mutex_);
          --in_flight_;
          cond_.NotifyAll();
        });
      });
    }
    MutexLock lock(mutex_);
    while (in_flight_ > 0) cond_.Wait(mutex_);
  }

 private:
  Executor& executor_;
  const std::size_t total_;
  const std::size_t window_;
  const std::string data_;
  Mutex mutex_;
  CondVar cond_;
  std::size_t in_flight_ GUARDED_BY(mutex_) = 0;
};

int Main(int argc, char** argv) {
  ConfigureLog({LogLevel::kError, ""});
  const std::string directory =
      Option(argc, argv, "--dir", (std::filesystem::temp_directory_path() / "executor_bench").string());
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  const std::size_t procs = Count(argc, argv, "--procs", "100000");
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

  const double bare = BareSync(directory);
  std::vector<double> single;
  for (int i = 0; i < 300; ++i) {
    const auto begin = BenchClock::now();
    Load(executor, 1, 1, "0").Run();
    single.push_back(SecondsSince(begin) * 1e6 / 4);  // the insert and three steps
  }
  const StoreMetrics before = store.metrics();
  const auto begin = BenchClock::now();
  Load(executor, procs, Count(argc, argv, "--inflight", "10000"), std::to_string(children)).Run();
  const double seconds = SecondsSince(begin);
  const StoreMetrics after = store.metrics();
  const double steps = static_cast<double>(procs) * 3 * static_cast<double>(children + 1);
  fmt::print("bare append + sync p50    : {:.0f} us\n", bare);
  fmt::print("one step, idle, p50       : {:.0f} us ({:.2f} x bare)\n", Median(single), Median(single) / bare);
  fmt::print("durable steps             : {:.0f} in {:.2f} s, {:.0f} per second\n", steps, seconds, steps / seconds);
  fmt::print("syncs                     : {}, {:.4f} per step\n", after.syncs - before.syncs,
             static_cast<double>(after.syncs - before.syncs) / steps);
  fmt::print("bytes written             : {:.0f} per step\n", static_cast<double>(after.bytes_written - before.bytes_written) / steps);
  fmt::print("RESULT [procs={}, children={}, steps_per_second={:.0f}, bare_us={:.0f}, idle_step_us={:.0f}]\n", procs, children,
             steps / seconds, bare, Median(single));
  executor.Stop();
  store.Stop();
  std::filesystem::remove_all(directory);
  return 0;
}

}  // namespace
}  // namespace ratchet::procedure

int main(int argc, char** argv) { return ratchet::procedure::Main(argc, argv); }
