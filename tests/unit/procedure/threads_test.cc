// Real workers, a store with its own thread, real timers, and several clients at once; run under TSan too.
#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "procedure/api/executor.h"
#include "tests/support/async_store.h"
#include "tests/support/script_procedure.h"

namespace ratchet::procedure {
namespace {

using namespace ratchet::testing;  // NOLINT: test helpers
using ::ratchet::testing::pb::Script;
using Kind = ratchet::testing::pb::ScriptOp;

class ThreadsTest : public ::testing::Test {
 protected:
  ThreadsTest() {
    RegisterScripts(registry_);
    journal_.SetAsync(true);
    Begin();
  }
  ~ThreadsTest() override { End(); }

  void Begin() {
    store_ = std::make_unique<AsyncStore>(disk_);
    workers_ = MakeThreadWorkers({4, 1, 8, "PEWorker"});
    timers_ = MakeThreadTimers();
    Executor::Options options;
    options.log_steps = false;
    options.retry = {Millis{1}, Millis{5}, 2.0, 0.1};
    options.stuck_check_interval = stuck_check_;
    options.stuck_threshold = Millis{1};
    executor_ = std::make_unique<Executor>(
        Executor::Deps{*store_, registry_, *workers_, clock_, *timers_, EnvRef::Of(journal_)}, options);
    ASSERT_TRUE(executor_->Recover().ok());
    executor_->Start();
  }
  void End() {
    executor_.reset();
    workers_.reset();
    timers_.reset();
    store_.reset();
  }
  ProcId Submit(const Script& script) {
    const Result<ProcId> pid = executor_->Submit(MakeScript(script));
    EXPECT_TRUE(pid.ok());
    return pid.ok() ? *pid : ProcId();
  }
  ProcedureResult Wait(ProcId pid) {
    struct Shared {
      Mutex mutex;
      CondVar cond;
      std::optional<ProcedureResult> result GUARDED_BY(mutex);
    };
    auto shared = std::make_shared<Shared>();
    executor_->OnFinished(pid, [shared](ProcedureResult result) {
      MutexLock lock(shared->mutex);
      shared->result = std::move(result);
      shared->cond.NotifyAll();
    });
    MutexLock lock(shared->mutex);
    while (!shared->result) {
      if (!shared->cond.WaitFor(shared->mutex, std::chrono::seconds(60))) break;
    }
    EXPECT_TRUE(shared->result.has_value()) << "pid " << pid.value() << " has not finished in a minute";
    return shared->result.value_or(ProcedureResult{});
  }

  ProcedureRegistry registry_;
  Journal journal_;
  StoredState disk_;
  SystemClock clock_;
  Millis stuck_check_{0};
  std::unique_ptr<AsyncStore> store_;
  std::unique_ptr<WorkerPool> workers_;
  std::unique_ptr<Timers> timers_;
  std::unique_ptr<Executor> executor_;
};

TEST_F(ThreadsTest, ManyTreesWithLocksFailuresAndWaits) {
  constexpr int kClients = 4;
  constexpr int kEach = 40;
  std::atomic<int> wrong{0};
  std::atomic<int> finished{0};
  std::vector<std::thread> clients;
  for (int c = 0; c < kClients; ++c) {
    clients.emplace_back([this, c, &wrong, &finished] {
      for (int i = 0; i < kEach; ++i) {
        const std::string name = "c" + std::to_string(c) + "i" + std::to_string(i) + ".";
        const std::string table = "t:t" + std::to_string(i % 5);
        const bool fails = i % 3 == 0;
        const Script leaf = WithLock(ScriptOf("", {Op(Kind::NEXT), Op(Kind::RETRY, "r", 1), Op(Kind::ONCE)}),
                                     "r:t" + std::to_string(i % 5) + "/" + std::to_string(i % 3), true);
        const Script root = WithLock(
            ScriptOf(name, {Op(Kind::NEXT), SpawnOp({leaf, leaf, leaf}), Op(Kind::YIELD),
                            Op(Kind::AWAIT_EVENT, "never", 2), fails ? Op(Kind::FAIL, "planned") : Op(Kind::NEXT)}),
            table, i % 2 == 0);
        const ProcedureResult result = Wait(Submit(root));
        const bool failed = result.status == ProcedureResult::Status::kFailed;
        if (failed != fails) ++wrong;
        ++finished;
      }
    });
  }
  std::atomic<bool> over{false};
  std::thread watcher([this, &over, &finished] {
    int wakes = 0;
    while (!over) {
      for (const ProcedureInfo& info : executor_->List()) EXPECT_TRUE(info.pid.valid());
      EXPECT_TRUE(executor_->WaitFor().cycles.empty());
      // A wake restarts the wait and its time-out, so the number of wakes for each tree is bounded; otherwise no tree
      // would reach its time-out.
      if (wakes < 10 * (finished + 1)) {
        executor_->Wake({"never"});
        ++wakes;
      }
      std::this_thread::yield();
    }
  });
  for (std::thread& client : clients) client.join();
  over = true;
  watcher.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_TRUE(executor_->Locks().empty());
}

// S122 (actions on files end with their step): steps whose own work does not end hold no worker, also when there are
// more of them than workers.
TEST_F(ThreadsTest, StayingStepsHoldNoWorker) {
  journal_.SetAsync(false);
  std::vector<ProcId> staying;
  for (int i = 0; i < 20; ++i) {
    std::vector<pb::ScriptOp> ops = {Op(Kind::STAY), Op(Kind::NEXT), Op(Kind::STAY)};
    if (i % 4 == 0) ops.push_back(Op(Kind::FAIL, "planned"));  // its undo stays too
    staying.push_back(Submit(ScriptOf("s" + std::to_string(i) + ".", ops)));
  }
  const ProcedureResult other = Wait(Submit(ScriptOf("other", {Op(Kind::NEXT), Op(Kind::NEXT)})));
  EXPECT_EQ(other.status, ProcedureResult::Status::kSuccess);
  std::atomic<bool> over{false};
  std::vector<std::thread> elsewhere;
  for (int t = 0; t < 2; ++t) {
    elsewhere.emplace_back([this, &over] {
      while (!over) {
        if (!journal_.FinishAsync()) std::this_thread::yield();
      }
    });
  }
  for (std::size_t i = 0; i < staying.size(); ++i) {
    const bool failed = Wait(staying[i]).status == ProcedureResult::Status::kFailed;
    EXPECT_EQ(failed, i % 4 == 0) << i;
  }
  over = true;
  for (std::thread& thread : elsewhere) thread.join();
  EXPECT_TRUE(executor_->Locks().empty());
}

TEST_F(ThreadsTest, ReportsFromManyThreads) {
  std::vector<pb::ScriptOp> ops(6, Op(Kind::AWAIT_REPORT, "go"));
  std::vector<ProcId> pids;
  for (int i = 0; i < 50; ++i) pids.push_back(Submit(ScriptOf("r" + std::to_string(i) + ".", ops)));
  std::atomic<int> taken{0};
  std::atomic<int> answered{0};
  std::vector<std::thread> reporters;
  for (int t = 0; t < 3; ++t) {
    reporters.emplace_back([&] {
      for (const ProcId pid : pids) {
        executor_->Deliver(pid, "go", [&](const Result<Absorbed>& answer) {
          if (answer.ok() && answer->taken()) ++taken;
          ++answered;
        });
      }
    });
  }
  for (std::thread& reporter : reporters) reporter.join();
  for (const ProcId pid : pids) EXPECT_EQ(Wait(pid).status, ProcedureResult::Status::kSuccess);
  executor_->Stop();
  EXPECT_EQ(answered, 150);
  EXPECT_EQ(taken, 50) << "each report is taken once";
}

TEST_F(ThreadsTest, StopAndNextMasterGoOn) {
  std::vector<ProcId> pids;
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 30; ++i) {
      const Script child = ScriptOf("", {Op(Kind::NEXT), Op(Kind::AWAIT_EVENT, "never", 3), Op(Kind::NEXT)});
      pids.push_back(Submit(ScriptOf("s" + std::to_string(round) + "i" + std::to_string(i) + ".",
                                     {Op(Kind::NEXT), SpawnOp({child, child}), Op(Kind::NEXT)})));
    }
    End();
    Begin();
  }
  for (const ProcId pid : pids) EXPECT_EQ(Wait(pid).status, ProcedureResult::Status::kSuccess);
}

}  // namespace
}  // namespace ratchet::procedure
