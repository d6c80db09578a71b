// Listeners under real threads: one at a time, in order, and none runs when Stop has returned.
#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "procedure/api/executor.h"
#include "tests/support/async_store.h"
#include "tests/support/script_procedure.h"

namespace ratchet::procedure {
namespace {

using namespace ratchet::testing;  // NOLINT: test helpers
using Kind = ratchet::testing::pb::ScriptOp;

struct Listening final : ProcedureListener {
  std::function<void(const ProcedureInfo&)> added, finished;
  void OnAdded(const ProcedureInfo& info) override {
    if (added) added(info);
  }
  void OnFinished(const ProcedureInfo& info) override {
    if (finished) finished(info);
  }
};

class ListenerThreadsTest : public ::testing::Test {
 protected:
  ListenerThreadsTest() : store_(disk_), workers_(MakeThreadWorkers({.workers = 4})), timers_(MakeThreadTimers()) {
    RegisterScripts(registry_);
    Executor::Options options;
    options.log_steps = false;
    executor_ = std::make_unique<Executor>(
        Executor::Deps{store_, registry_, *workers_, clock_, *timers_, EnvRef::Of(journal_)}, options);
    executor_->AddListener(listener_);
  }
  ~ListenerThreadsTest() override {
    executor_.reset();
    store_.Stop();
  }
  void Begin() {
    ASSERT_TRUE(executor_->Recover().ok());
    executor_->Start();
  }
  static bool Becomes(const std::atomic<bool>& flag, std::chrono::milliseconds patience) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (!flag && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    return flag;
  }

  ProcedureRegistry registry_;
  Journal journal_;
  StoredState disk_;
  SystemClock clock_;
  AsyncStore store_;
  std::unique_ptr<WorkerPool> workers_;
  std::unique_ptr<Timers> timers_;
  const std::shared_ptr<Listening> listener_ = std::make_shared<Listening>();
  std::unique_ptr<Executor> executor_;
};

TEST_F(ListenerThreadsTest, HearOneAtATimeAndEveryBeginBeforeItsEnd) {
  std::atomic<int> inside{0};
  std::set<ProcId> live;  // no lock: a call that comes while another one runs is the error
  std::size_t ended = 0;
  std::atomic<bool> all{false};
  constexpr std::size_t kTrees = 200;
  listener_->added = [&](const ProcedureInfo& info) {
    EXPECT_EQ(++inside, 1);
    EXPECT_TRUE(live.insert(info.pid).second);
    EXPECT_TRUE(!info.parent.valid() || live.contains(info.parent)) << "a child before its parent";
    --inside;
  };
  listener_->finished = [&](const ProcedureInfo& info) {
    EXPECT_EQ(++inside, 1);
    EXPECT_EQ(live.erase(info.pid), 1U) << "pid " << info.pid.value() << " ends, but has not begun";
    if (++ended == 3 * kTrees) all = true;
    --inside;
  };
  Begin();
  const pb::Script leaf = ScriptOf("", {Op(Kind::NEXT)});
  for (std::size_t i = 0; i < kTrees; ++i) {
    const bool fails = i % 3 == 0;
    const pb::Script tree =
        ScriptOf(fmt::format("t{}.", i), {SpawnOp({leaf, leaf}), fails ? Op(Kind::FAIL, "no") : Op(Kind::NEXT)});
    executor_->SubmitAsync(MakeScript(tree), {}, [](const Result<ProcId>& pid) { EXPECT_TRUE(pid.ok()); });
  }
  EXPECT_TRUE(Becomes(all, std::chrono::seconds(60)));
  executor_->Stop();
  EXPECT_TRUE(live.empty());
}

TEST_F(ListenerThreadsTest, StopReturnsWhenNoneIsUnderWay) {
  std::atomic<bool> inside{false};
  std::atomic<bool> open{false};
  std::atomic<bool> left{false};
  std::atomic<bool> stopped{false};
  listener_->finished = [&](const ProcedureInfo&) {
    inside = true;
    Becomes(open, std::chrono::seconds(60));
    left = true;
  };
  Begin();
  ASSERT_TRUE(executor_->Submit(MakeScript(ScriptOf("a", {Op(Kind::NEXT)}))).ok());
  ASSERT_TRUE(Becomes(inside, std::chrono::seconds(60)));
  std::thread stopper([&] {
    executor_->Stop();
    EXPECT_TRUE(left) << "the host may be gone from here on";
    stopped = true;
  });
  EXPECT_FALSE(Becomes(stopped, std::chrono::milliseconds(150)));
  open = true;
  stopper.join();
}

}  // namespace
}  // namespace ratchet::procedure
