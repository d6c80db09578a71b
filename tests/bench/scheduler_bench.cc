// scheduler_bench: measures adding procedures to the run queue and polling them, with their locks.
//
// Options, workload and output lines of HBase's MasterProcedureSchedulerPerformanceEvaluation, one or two dashes:
// -num_ops 10000000 -ops_type both|table|region -num_table 5 -regions_per_table 10 -threads 10.
//
// First all threads together make -num_ops procedures and add each to the back. Then they poll until all are completed:
// a polled procedure tries its locks (a table operation its table exclusively; a region operation its region
// exclusively and the table shared); if a lock is held, this counts as a yield and the procedure is added to the back
// again; else it has completed and releases them. A poll without a runnable procedure also counts as a yield.
//
// It measures the executor's parts: its lock, its scheduler, its lock manager.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/prng.h"
#include "procedure/api/executor.h"
#include "procedure/api/procedure_registry.h"
#include "procedure/api/scheduling_class.h"
#include "procedure/api/state_machine_procedure.h"
#include "procedure/api/worker_pool.h"
#include "procedure/engine/advance.h"
#include "procedure/engine/executor_lock.h"
#include "tests/support/memory_store.h"

namespace ratchet::procedure {
namespace {

struct Options {
  std::uint64_t num_ops = 10'000'000;
  std::uint64_t num_table = 5;
  std::uint64_t regions_per_table = 10;
  std::uint64_t threads = 10;
  std::string ops_type = "both";
};

struct NoData {
  [[nodiscard]] std::string SerializeAsString() const { return {}; }
  bool ParseFromArray(const char* /*data*/, int /*size*/) { return true; }
};

// Target of an operation: its name, and the keys of a procedure on it, looked up once.
struct Target {
  LockSet locks;
  LockPlan plan;
  SchedItem like;  // a member of the queue
};

class BenchProcedure final : public StateMachineProcedure<BenchProcedure, NoData> {
 public:
  static constexpr std::string_view kTypeName = "Bench";
  static constexpr auto Steps() { return std::array{On<&BenchProcedure::Only>(1, "ONLY", kNothingToUndo)}; }
  explicit BenchProcedure(Target& target) : target_(&target) {}
  [[nodiscard]] LockSet Locks() const override { return target_->locks; }

 private:
  StepOutcome Only(StepContext& /*ctx*/) { return Done{}; }
  Target* target_;
};

// A procedure with its place in the scheduler and in the lock manager.
struct alignas(64) Operation {
  Operation(ProcId pid, Target& target) : plan(&target.plan), holder(pid), procedure(target) { sched.owner = this; }
  SchedItem sched;
  const LockPlan* plan;
  LockHolder holder;
  BenchProcedure procedure;
};

// A thread's operations, made one after the other in pre-touched memory (as in a JVM with -XX:+AlwaysPreTouch).
class Operations {
 public:
  explicit Operations(std::size_t capacity)
      : capacity_(capacity), memory_(std::allocator<Operation>().allocate(capacity)) {
    std::memset(static_cast<void*>(memory_), 0, capacity * sizeof(Operation));
  }
  Operations(const Operations&) = delete;
  Operations& operator=(const Operations&) = delete;
  ~Operations() {
    for (std::size_t i = 0; i < used_; ++i) memory_[i].~Operation();
    std::allocator<Operation>().deallocate(memory_, capacity_);
  }
  Operation& Make(ProcId pid, Target& target) { return *new (memory_ + used_++) Operation(pid, target); }

 private:
  const std::size_t capacity_;
  Operation* const memory_;
  std::size_t used_ = 0;
};

class Bench {
 public:
  explicit Bench(const Options& options)
      : options_(options),
        core_(std::make_shared<Core>(Executor::Deps{store_, registry_, workers_, clock_, timers_, {}},
                                     Executor::Options{}, DrainReady)),
        left_(options.num_ops) {
    ExecutorLock held(*core_);
    for (std::uint64_t t = 0; t < options.num_table; ++t) {
      const std::string table = fmt::format("table-{}", t);
      if (options.ops_type != "region") AddTarget(held, LockSet{Exclusive(ResourceKey::Table(table))}, table_targets_);
      for (std::uint64_t r = 0; options.ops_type != "table" && r < options.regions_per_table; ++r) {
        AddTarget(held, LockSet{Exclusive(ResourceKey::Region(table, fmt::format("region-{}", r)))}, region_targets_);
      }
    }
    held.Finish();
  }

  double AddAll() {
    for (std::uint64_t i = 0; i < options_.threads; ++i) {
      operations_.push_back(std::make_unique<Operations>(options_.num_ops / options_.threads + 1));
    }
    return RunThreads([this](std::uint64_t thread) { Add(thread); });
  }
  double PollAll() {
    return RunThreads([this](std::uint64_t /*thread*/) { Poll(); });
  }
  [[nodiscard]] std::uint64_t completed() const { return completed_; }
  [[nodiscard]] std::uint64_t yields() const { return yields_; }
  [[nodiscard]] bool AllReleased() {
    const ExecutorReadLock held(*core_);
    return held->locks.List().empty() && held->scheduler.size() == 0;
  }

 private:
  static void AddTarget(ExecutorLock& held, LockSet locks, std::vector<std::unique_ptr<Target>>& targets) {
    auto target = std::make_unique<Target>();
    target->locks = std::move(locks);
    target->plan = held->locks.Prepare(target->locks.Expanded());
    const BenchProcedure procedure(*target);
    const SchedulingPlace place = PlaceOf(procedure, {});
    held->scheduler.Bind(target->like, place.priority, place.queue, place.urgent, place.exclusive);
    targets.push_back(std::move(target));
  }

  template <class Work>
  double RunThreads(Work work) {
    std::vector<std::thread> threads;
    const auto begin = std::chrono::steady_clock::now();
    for (std::uint64_t i = 0; i < options_.threads; ++i) threads.emplace_back(work, i);
    for (std::thread& thread : threads) thread.join();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  // Chooses a table or a region operation with equal probability, if the run has both kinds.
  Target& Choose(Prng& prng) {
    const bool table = region_targets_.empty() || (!table_targets_.empty() && prng.Next() % 2 == 0);
    auto& targets = table ? table_targets_ : region_targets_;
    return *targets[(prng.Next() >> 32) * targets.size() >> 32];
  }

  void Add(std::uint64_t thread) {
    Prng prng(thread + 1);
    Operations& mine = *operations_[thread];
    const std::uint64_t begin = options_.num_ops * thread / options_.threads;
    const std::uint64_t end = options_.num_ops * (thread + 1) / options_.threads;
    for (std::uint64_t i = begin; i < end; ++i) {
      Target& target = Choose(prng);
      Operation& operation = mine.Make(ProcId(i + 1), target);
      ExecutorLock held(*core_);
      held->scheduler.BindLike(operation.sched, target.like);
      held->scheduler.AddBack(operation.sched);
      held.Finish();
    }
  }

  void Poll() {
    std::uint64_t completed = 0;
    std::uint64_t yields = 0;
    std::vector<ProcId> granted;  // no procedure waits in a queue, so this stays empty
    while (left_.load(std::memory_order_relaxed) > 0) {
      Operation* operation = nullptr;
      bool taken = false;
      {
        ExecutorLock held(*core_);
        if (SchedItem* item = held->scheduler.Poll(/*urgent_only=*/false)) {
          operation = static_cast<Operation*>(item->owner);
          taken = !held->locks.TryNow(operation->holder, *operation->plan);
          if (taken) {
            held->scheduler.Done(*item);
            held->scheduler.AddBack(*item);
          }
        }
        held.Finish();
      }
      if (operation == nullptr || taken) {
        ++yields;
        if (operation == nullptr) std::this_thread::yield();
        continue;
      }
      ExecutorLock held(*core_);
      held->locks.Release(operation->holder, granted);
      held->scheduler.Done(operation->sched);
      held->scheduler.Unbind(operation->sched);
      held.Finish();
      ++completed;
      left_.store(left_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    }
    completed_ += completed;
    yields_ += yields;
  }

  const Options& options_;
  SystemClock clock_;
  ManualWorkers workers_;
  std::unique_ptr<Timers> owned_timers_ = MakeThreadTimers();
  Timers& timers_ = *owned_timers_;
  MemoryStore store_;
  ProcedureRegistry registry_;
  std::shared_ptr<Core> core_;
  std::vector<std::unique_ptr<Target>> table_targets_;
  std::vector<std::unique_ptr<Target>> region_targets_;
  std::vector<std::unique_ptr<Operations>> operations_;
  alignas(64) std::atomic<std::uint64_t> left_;  // written under the lock only
  alignas(64) std::atomic<std::uint64_t> completed_{0};
  std::atomic<std::uint64_t> yields_{0};
};

std::string Human(double value) {
  if (value >= 1e6) return fmt::format("{:.1f}M", value / 1e6);
  if (value >= 1e3) return fmt::format("{:.1f}K", value / 1e3);
  return fmt::format("{:.0f}", value);
}

bool Parse(int argc, char** argv, Options& options) {
  const std::map<std::string, std::uint64_t*> numbers = {{"num_ops", &options.num_ops},
                                                         {"num_table", &options.num_table},
                                                         {"regions_per_table", &options.regions_per_table},
                                                         {"threads", &options.threads}};
  for (int i = 1; i < argc; i += 2) {
    std::string flag = argv[i];
    flag.erase(0, std::min<std::size_t>(flag.find_first_not_of('-'), 2));
    if (i + 1 == argc) return false;
    if (const auto number = numbers.find(flag); number != numbers.end()) {
      *number->second = std::strtoull(argv[i + 1], nullptr, 10);
      if (*number->second == 0) return false;
    } else if (flag == "ops_type") {
      options.ops_type = argv[i + 1];
    } else {
      return false;
    }
  }
  return options.ops_type == "both" || options.ops_type == "table" || options.ops_type == "region";
}

int Main(int argc, char** argv) {
  Options options;
  if (!Parse(argc, argv, options)) {
    std::cerr
        << "usage: scheduler_bench [-num_ops N] [-ops_type both|table|region] [-num_table N] [-regions_per_table N] "
           "[-threads N]\n";
    return 2;
  }
  ConfigureLog({LogLevel::kError, ""});
  Bench bench(options);
  const double add = bench.AddAll();
  const double poll = bench.PollAll();
  const auto ops = static_cast<double>(options.num_ops);
  const std::string rule(42, '*');
  fmt::print("{}\nTime - addBack     : {:.4f}sec\nOps/sec - addBack  : {}\n", rule, add, Human(ops / add));
  fmt::print("Time - poll        : {:.4f}sec\nOps/sec - poll     : {}\n", poll, Human(ops / poll));
  fmt::print("Num Operations     : {}\n\nCompleted          : {}\nYield              : {}\n\n", options.num_ops,
             bench.completed(), bench.yields());
  fmt::print("Num Tables         : {}\nRegions per table  : {}\nOperations type    : {}\nThreads            : {}\n{}\n",
             options.num_table, options.regions_per_table, options.ops_type, options.threads, rule);
  fmt::print("Raw format for scripts\n\n");
  fmt::print(
      "RESULT [num_ops={}, ops_type={}, num_table={}, regions_per_table={}, threads={}, num_yield={}, "
      "time_addback_ms={:.0f}, time_poll_ms={:.0f}]\n",
      options.num_ops, options.ops_type, options.num_table, options.regions_per_table, options.threads, bench.yields(),
      add * 1e3, poll * 1e3);
  if (bench.completed() == options.num_ops && bench.AllReleased()) return 0;
  std::cerr << "scheduler_bench: not everything was completed and released\n";
  return 1;
}

}  // namespace
}  // namespace ratchet::procedure

int main(int argc, char** argv) { return ratchet::procedure::Main(argc, argv); }
