// The history of a run by real workers on the real store, read again by fresh executors over its files.
#include <cstdlib>
#include <filesystem>
#include <future>
#include <map>

#include <gtest/gtest.h>

#include "common/base/thread_name.h"
#include "common/io/disk.h"
#include "procedure/api/executor.h"
#include "procedure/store/wal_store.h"
#include "tests/support/script_procedure.h"

namespace ratchet::procedure {
namespace {

using namespace ratchet::testing;  // NOLINT: test helpers
using Kind = ratchet::testing::pb::ScriptOp;

// A master on the files of a directory, for as long as it lives.
class FileMaster {
 public:
  FileMaster(const std::filesystem::path& dir, const ProcedureRegistry& registry, Journal& journal)
      : timers_(MakeThreadTimers()),
        workers_(MakeThreadWorkers({.workers = 3})),
        store_(io::PosixDisk().OpenOrMake((dir / "procedures").string()).value(),
               io::PosixDisk().OpenOrMake((dir / "quarantine").string()).value(), clock_, {}) {
    Executor::Options options;
    options.log_steps = false;
    options.retry = {Millis{1}, Millis{2}, 2.0, 0.0};
    executor_ = std::make_unique<Executor>(
        Executor::Deps{store_, registry, *workers_, clock_, *timers_, EnvRef::Of(journal)}, options);
    EXPECT_TRUE(executor_->Recover().ok());
    executor_->Start();
  }
  ~FileMaster() {
    executor_.reset();
    store_.Stop();
  }
  Executor& executor() { return *executor_; }
  [[nodiscard]] std::int64_t Now() const { return clock_.WallMillis(); }
  ProcedureResult Wait(ProcId pid) {
    std::promise<ProcedureResult> end;
    auto future = end.get_future();
    executor_->OnFinished(pid, [&end](ProcedureResult result) { end.set_value(std::move(result)); });
    return future.get();
  }

 private:
  SystemClock clock_;
  std::unique_ptr<Timers> timers_;
  std::unique_ptr<WorkerPool> workers_;
  WalStore store_;
  std::unique_ptr<Executor> executor_;
};

std::string TextOf(const std::vector<StepHistoryEntry>& history) {
  std::string text;
  for (const StepHistoryEntry& entry : history) {
    text += fmt::format("{} {} epoch {} worker {} begin {} took {} runs {} {}\n", entry.step_name,
                        OutcomeName(entry.outcome), entry.epoch, entry.worker, entry.begin_ms, entry.duration_us,
                        entry.attempts, entry.error);
  }
  return text;
}

TEST(KeptHistoryTest, IsTheSameAfterTheEndAndForEveryMasterThatReadsTheFiles) {
  std::string name = (std::filesystem::temp_directory_path() / "history-XXXXXX").string();
  ASSERT_NE(mkdtemp(name.data()), nullptr);
  ProcedureRegistry registry;
  RegisterScripts(registry);
  Journal journal;
  Mutex mutex;
  std::map<std::string, std::vector<std::string>> ran_by;  // effect, runs and undos apart -> thread of each
  journal.SetObserver([&](char sign, const std::string& effect, const Procedure&) {
    MutexLock lock(mutex);
    if (sign == 's' || sign == 'u') ran_by[sign + effect].push_back(ThreadName());
  });
  ProcId pid;
  std::string told;
  {
    FileMaster master(name, registry, journal);
    journal.FailUndo("a1", 1);
    const std::int64_t before = master.Now();
    pid = master.executor()
              .Submit(MakeScript(ScriptOf("a", {Op(Kind::NEXT), Op(Kind::RETRY, "busy", 2), Op(Kind::FAIL, "no")})))
              .value();
    EXPECT_EQ(master.Wait(pid).status, ProcedureResult::Status::kFailed);
    const std::int64_t after = master.Now();
    const std::vector<StepHistoryEntry> history = master.executor().History(pid);
    ASSERT_EQ(history.size(), 6U);
    const std::vector<std::string> runs = {"sa1", "sa2", "sa3", "ua3", "ua2", "ua1"};
    const std::vector<std::uint32_t> attempts = {1, 3, 1, 1, 1, 2};
    std::int64_t last = before;
    MutexLock lock(mutex);
    for (std::size_t i = 0; i < history.size(); ++i) {
      const StepHistoryEntry& entry = history[i];
      ASSERT_EQ(ran_by[runs[i]].size(), attempts[i]);
      EXPECT_EQ(fmt::format("PEWorker-{}", entry.worker), ran_by[runs[i]].back()) << runs[i];
      EXPECT_EQ(entry.attempts, attempts[i]) << runs[i];
      EXPECT_EQ(entry.epoch, master.executor().epoch());
      EXPECT_GE(entry.begin_ms, last) << runs[i];
      last = entry.begin_ms;
      EXPECT_LE(last + static_cast<std::int64_t>(entry.duration_us / 1000), after) << runs[i];
    }
    EXPECT_EQ(history[2].error, "FAILED_PRECONDITION: no");
    told = TextOf(history);
  }
  for (int i = 0; i < 2; ++i) {
    FileMaster next(name, registry, journal);
    EXPECT_EQ(TextOf(next.executor().History(pid)), told);
    EXPECT_TRUE(next.executor().LoadProblems().empty());
  }
  std::filesystem::remove_all(name);
}

}  // namespace
}  // namespace ratchet::procedure
