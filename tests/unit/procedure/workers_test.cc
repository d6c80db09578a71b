// Real workers: which steps run at the same time, extra workers for stuck ones, and that the extra workers end.
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <fstream>
#include <functional>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "common/base/mutex.h"
#include "procedure/api/executor.h"
#include "procedure/api/procedure_registry.h"
#include "procedure/api/state_machine_procedure.h"
#include "procedure/api/worker_pool.h"
#include "tests/support/async_store.h"
#include "tests/support/manual_time.h"
#include "tests/support/no_threads.h"

namespace ratchet::procedure {
namespace {

using ratchet::testing::AsyncStore;
using ratchet::testing::StoredState;

// The steps of a test wait here.
class Gate {
 public:
  // A step enters and stays until Open.
  void Pass() {
    MutexLock lock(mutex_);
    most_ = std::max(most_, ++inside_);
    changed_.NotifyAll();
    while (!open_) changed_.Wait(mutex_);
    --inside_;
  }
  void Open() {
    MutexLock lock(mutex_);
    open_ = true;
    changed_.NotifyAll();
  }
  [[nodiscard]] int inside() {
    MutexLock lock(mutex_);
    return inside_;
  }
  [[nodiscard]] int most() {
    MutexLock lock(mutex_);
    return most_;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  bool open_ GUARDED_BY(mutex_) = false;
  int inside_ GUARDED_BY(mutex_) = 0;
  int most_ GUARDED_BY(mutex_) = 0;
};

// "table/region", or "!" and the same for a procedure that passes the gate.
struct Words {
  std::string bytes;
  [[nodiscard]] std::string SerializeAsString() const { return bytes; }
  bool ParseFromArray(const char* data, int size) {
    bytes.assign(data, static_cast<std::size_t>(size));
    return true;
  }
};

class RegionWork final : public StateMachineProcedure<RegionWork, Words> {
 public:
  using StateMachineProcedure::StateMachineProcedure;
  static constexpr std::string_view kTypeName = "RegionWork";
  static constexpr auto Steps() { return std::array{On<&RegionWork::Only>(1, "ONLY", kNothingToUndo)}; }
  [[nodiscard]] LockSet Locks() const override {
    const std::string name = blocks() ? data_.bytes.substr(1) : data_.bytes;
    const auto slash = name.find('/');
    return {Exclusive(ResourceKey::Region(name.substr(0, slash), name.substr(slash + 1)))};
  }

 private:
  [[nodiscard]] bool blocks() const { return data_.bytes.front() == '!'; }
  StepOutcome Only(StepContext& ctx) {
    if (blocks()) ctx.env<Gate>().Pass();
    return Done{};
  }
};

// Returns false if this takes more than half a minute.
bool WaitUntil(const std::function<bool()>& condition) {
  Mutex mutex;
  CondVar cond;
  MutexLock lock(mutex);
  for (int i = 0; i < 15'000; ++i) {
    if (condition()) return true;
    cond.WaitFor(mutex, std::chrono::milliseconds(2));
  }
  return false;
}

class WorkersTest : public ::testing::Test {
 protected:
  WorkersTest() { registry_.Register<RegionWork>(); }
  ~WorkersTest() override { gate_.Open(); }

  void Begin(ThreadWorkersOptions workers, Executor::Options options, Clock& clock) {
    workers_ = MakeThreadWorkers(std::move(workers));
    options.log_steps = false;
    executor_ = std::make_unique<Executor>(
        Executor::Deps{store_, registry_, *workers_, clock, *timers_, EnvRef::Of(gate_)}, options);
    ASSERT_TRUE(executor_->Recover().ok());
    executor_->Start();
  }
  ProcId Submit(const std::string& words) {
    const Result<ProcId> pid = executor_->Submit(std::make_unique<RegionWork>(Words{words}));
    EXPECT_TRUE(pid.ok());
    return pid.ok() ? *pid : ProcId();
  }
  bool Finishes(ProcId pid) {
    return WaitUntil([this, pid] { return executor_->GetResult(pid).finished(); });
  }

  Gate gate_;
  ProcedureRegistry registry_;
  StoredState disk_;
  AsyncStore store_{disk_};
  SystemClock clock_;
  ManualTime still_;
  std::unique_ptr<Timers> timers_ = MakeThreadTimers();
  std::unique_ptr<WorkerPool> workers_;
  std::unique_ptr<Executor> executor_;
};

TEST_F(WorkersTest, ATableRunsNoMoreStepsAtOnceThanItsLimit) {
  Executor::Options options;
  options.run_limits.per_table = 2;
  options.stuck_check_interval = Millis{0};
  Begin({4, 0, 0, "PEWorker"}, options, clock_);
  std::vector<ProcId> pids;
  for (int i = 0; i < 4; ++i) pids.push_back(Submit("!t/" + std::to_string(i)));
  ASSERT_TRUE(WaitUntil([this] { return gate_.inside() == 2; }));
  EXPECT_TRUE(Finishes(Submit("u/0"))) << "two workers are free for another table";
  EXPECT_EQ(gate_.inside(), 2);
  EXPECT_TRUE(WaitUntil([&] {
    return std::count_if(pids.begin(), pids.end(), [this](ProcId pid) {
             return ToText(executor_->Get(pid)->waiting) == "2 steps of table t run, which is its limit: pid=1 pid=2";
           }) == 2;
  })) << "the others show what holds them back, and which procedures";
  const std::vector<LimitInfo> limits = executor_->Limits();
  ASSERT_EQ(limits.size(), 1U);
  EXPECT_EQ(limits[0].key, ResourceKey::Table("t"));
  EXPECT_EQ(limits[0].limit, 2U);
  EXPECT_EQ(limits[0].running, (std::vector<ProcId>{pids[0], pids[1]}));
  EXPECT_EQ(limits[0].waiting, (std::vector<ProcId>{pids[2], pids[3]}));
  EXPECT_EQ(executor_->WaitFor().Chain(pids[3]), "4 -limit of table t-> 1");
  gate_.Open();
  for (const ProcId pid : pids) EXPECT_TRUE(Finishes(pid));
  EXPECT_EQ(gate_.most(), 2);
  EXPECT_TRUE(executor_->Limits().empty());
}

TEST_F(WorkersTest, StuckWorkersGetHelpAndTheHelpersGoAgain) {
  Executor::Options options;
  options.stuck_check_interval = Millis{2};
  options.stuck_threshold = Millis{1};
  options.keep_alive = Millis{5};
  // No worker is stuck before time moves: both of the pool's own workers come to the gate, and no extra one.
  Begin({2, 0, 3, "PEWorker"}, options, still_);
  const ProcId first = Submit("!t/0");
  const ProcId second = Submit("!t/1");
  ASSERT_TRUE(WaitUntil([this] { return gate_.inside() == 2; }));
  EXPECT_EQ(workers_->size(), 2U);
  EXPECT_EQ(executor_->Workers().running, 2U);
  EXPECT_EQ(executor_->Workers().held, 0U) << "no time has gone by";
  still_.Advance(Millis{10});
  const WorkersInfo held = executor_->Workers();
  EXPECT_EQ(held.held, 2U);
  EXPECT_TRUE(held.longest == first || held.longest == second);
  EXPECT_EQ(held.longest_for, Millis{10});
  EXPECT_FALSE(held.work_waits);
  EXPECT_TRUE(Finishes(Submit("u/0"))) << "both workers are stuck, a third one has to come";
  EXPECT_TRUE(WaitUntil([this] { return workers_->size() == 2; })) << "no work waits, so it has ended";
  EXPECT_TRUE(Finishes(Submit("u/1"))) << "and another one comes when it is needed";
  gate_.Open();
  EXPECT_TRUE(Finishes(first));
  EXPECT_TRUE(Finishes(second));
  EXPECT_TRUE(WaitUntil([this] { return workers_->size() == 2; }));
}

TEST_F(WorkersTest, HelpersAreBounded) {
  Executor::Options options;
  options.stuck_check_interval = Millis{2};
  options.stuck_threshold = Millis{1};
  Begin({1, 0, 3, "PEWorker"}, options, clock_);
  std::vector<ProcId> pids;
  for (int i = 0; i < 8; ++i) pids.push_back(Submit("!t/" + std::to_string(i)));
  ASSERT_TRUE(WaitUntil([this] { return gate_.inside() == 4; }));
  EXPECT_EQ(workers_->size(), 4U) << "one, and three helpers";
  gate_.Open();
  for (const ProcId pid : pids) EXPECT_TRUE(Finishes(pid));
  EXPECT_EQ(gate_.most(), 4);
}

class NothingToDo final : public WorkSource {
 public:
  std::size_t Run(const WorkerInfo& /*worker*/, std::size_t /*at_most*/) override { return 0; }
};

TEST(PoolTest, WhenNoThreadCanBeHadTheHelperIsMissingAndNothingElse) {
  NothingToDo nothing;
  ThreadWorkersOptions options;
  options.workers = 1;
  options.reserved = 0;
  const auto pool = MakeThreadWorkers(options);
  pool->Start(nothing);
  {
    const NoThreads none;
    EXPECT_FALSE(pool->AddTemporary(Millis(60'000)));
  }
  EXPECT_EQ(pool->size(), 1U);
  EXPECT_TRUE(pool->AddTemporary(Millis(60'000)));
  EXPECT_EQ(pool->size(), 2U);
  pool->Stop();
}

// Address space of this process, in pages.
std::size_t PagesMapped() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages;
}

std::size_t PagesOfAStack() {
  pthread_attr_t attributes;
  std::size_t bytes = 0;
  EXPECT_EQ(pthread_getattr_default_np(&attributes), 0);
  EXPECT_EQ(pthread_attr_getstacksize(&attributes, &bytes), 0);
  EXPECT_EQ(pthread_attr_destroy(&attributes), 0);
  return bytes / static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// A thread keeps its stack until it is joined.
TEST(PoolTest, HelpersThatHaveEndedKeepNoStacks) {
  constexpr std::size_t kHelpers = 60;
  NothingToDo nothing;
  ThreadWorkersOptions options;
  options.workers = 1;
  options.reserved = 0;
  const auto pool = MakeThreadWorkers(options);
  pool->Start(nothing);
  const std::size_t before = PagesMapped();
  ASSERT_GT(before, 0U);
  for (std::size_t i = 0; i < kHelpers; ++i) {
    ASSERT_TRUE(pool->AddTemporary(Millis(1)));
    ASSERT_TRUE(WaitUntil([&pool] { return pool->size() == 1; }));
  }
  EXPECT_LT(PagesMapped() - std::min(before, PagesMapped()), kHelpers / 2 * PagesOfAStack())
      << "the C library keeps a few stacks for the next threads";
  pool->Stop();
}

}  // namespace
}  // namespace ratchet::procedure
