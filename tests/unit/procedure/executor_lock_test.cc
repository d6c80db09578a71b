// The executor's lock: its scope ends with Finish, and nothing that was left for after it is lost.
#include "procedure/engine/executor_lock.h"

#include <chrono>
#include <stdexcept>

#include <gtest/gtest.h>

#include "procedure/api/procedure_registry.h"
#include "procedure/api/worker_pool.h"
#include "procedure/engine/advance.h"
#include "tests/support/manual_time.h"
#include "tests/support/memory_store.h"

namespace ratchet::procedure {
namespace {

class ExecutorLockTest : public ::testing::Test {
 protected:
  MemoryStore store_;
  ProcedureRegistry registry_;
  ManualWorkers workers_;
  ManualTime time_;
  std::shared_ptr<Core> core_ = std::make_shared<Core>(ExecutorDeps{store_, registry_, workers_, time_, time_, {}},
                                                       ExecutorOptions{}, DrainReady);
};

TEST_F(ExecutorLockTest, FinishReleasesTheLockAndThenCallsBack) {
  bool called = false;
  ExecutorLock held(*core_);
  held.Later([&] {
    called = true;
    const ExecutorReadLock again(*core_);  // waits without end if the lock is still held
    EXPECT_TRUE(ExecutorLock::InCallOf(*core_));
  });
  EXPECT_FALSE(called);
  held.Finish();
  EXPECT_TRUE(called);
}

TEST_F(ExecutorLockTest, TheLongestHoldIsMeasuredIfItIsWanted) {
  EXPECT_EQ(core_->meter().longest().count(), 0);
  { const ExecutorReadLock look(*core_); }
  EXPECT_EQ(core_->meter().longest().count(), 0) << "measured without the option";

  ExecutorOptions options;
  options.measure_lock = true;
  const auto core = std::make_shared<Core>(core_->deps, options, DrainReady);
  const auto hold = [&] {
    const auto begin = HoldMeter::Clock::now();
    { const ExecutorReadLock look(*core); }
    return HoldMeter::Clock::now() - begin;
  };
  auto most = HoldMeter::Clock::duration::zero();
  while (core->meter().longest().count() == 0) most = std::max(most, hold());  // a clock may be coarse
  EXPECT_LE(core->meter().longest(), most);
  const auto first = core->meter().longest();
  ExecutorLock held(*core);
  const auto begin = HoldMeter::Clock::now();
  while (HoldMeter::Clock::now() - begin <= first) {
  }
  held.Finish();
  EXPECT_GT(core->meter().longest(), first) << "a longer hold is not noticed";
}

TEST_F(ExecutorLockTest, AScopeWithoutFinishEndsTheProcess) {
  EXPECT_DEATH({ const ExecutorLock held(*core_); }, "without Finish");
}

TEST_F(ExecutorLockTest, AnExceptionUnderTheLockReleasesItAndLosesNoCall) {
  bool called = false;
  const auto fail = [&] {
    ExecutorLock held(*core_);
    held.Later([&] { called = true; });
    throw std::runtime_error("of an author");
  };
  EXPECT_THROW(fail(), std::runtime_error);
  EXPECT_TRUE(called);
  const ExecutorReadLock again(*core_);
  EXPECT_FALSE(again->halted);
}

}  // namespace
}  // namespace ratchet::procedure
