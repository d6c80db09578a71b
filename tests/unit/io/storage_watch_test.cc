#include "common/io/storage_watch.h"

#include <memory>
#include <optional>

#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "common/base/mutex.h"
#include "tests/support/manual_time.h"

namespace ratchet::io {
namespace {

constexpr Millis kPatienceOfWatch{20'000};

// A process whose storage hangs from `Hang` on.
class StorageWatchTest : public ::testing::Test {
 protected:
  StorageWatchTest() {
    StorageWatchOptions options;
    options.limit = Millis(10'000);
    options.end_within = Millis(2'000);
    StorageWatchParts parts;
    parts.leave = [this] { Count(left_); };
    parts.end = [this](const std::string&) { Count(ended_); };
    parts.last_resort = [this](const std::string&) { Count(last_resorts_); };
    parts.look = [this] { Count(looks_); };
    parts.prove = [this] { Count(proofs_); };
    watch_ = std::make_unique<StorageWatch>(time_, syncs_, options, std::move(parts));
  }

  void Hang() { operation_.emplace(syncs_, 0); }
  void Count(int& what) {
    MutexLock lock(mutex_);
    ++what;
    changed_.NotifyAll();
  }
  int Now(const int& what) {
    MutexLock lock(mutex_);
    return what;
  }
  bool Await(const int& what) {
    const auto until = SystemClock().Now() + kPatienceOfWatch;
    MutexLock lock(mutex_);
    while (what == 0 && SystemClock().Now() < until) changed_.WaitFor(mutex_, Millis(50));
    return what > 0;
  }
  // Long enough for several polls of the watch, unless it withdraws meanwhile.
  void AwaitPolls() {
    const auto until = SystemClock().Now() + Millis(400);
    MutexLock lock(mutex_);
    while (left_ == 0 && SystemClock().Now() < until) changed_.WaitFor(mutex_, Millis(50));
  }

  ManualTime time_;
  SyncWatch syncs_{time_};
  Mutex mutex_;
  CondVar changed_;
  int left_ = 0;
  int ended_ = 0;
  int last_resorts_ = 0;
  int looks_ = 0;
  int proofs_ = 0;
  std::optional<SyncWatch::Operation> operation_;
  std::unique_ptr<StorageWatch> watch_;
};

TEST_F(StorageWatchTest, WithdrawsWithPermissionBeyondTheLimit) {
  Hang();
  time_.Advance(Millis(10'500));
  watch_->Permit();
  ASSERT_TRUE(Await(left_));
  ASSERT_TRUE(Await(ended_));
  EXPECT_EQ(Now(last_resorts_), 0);
  time_.Advance(Millis(2'500));  // the end hangs, too
  EXPECT_TRUE(Await(last_resorts_));
}

TEST_F(StorageWatchTest, StaysWithoutPermissionHoweverLongItHangs) {
  Hang();
  time_.Advance(Millis(3'600'000));
  AwaitPolls();
  EXPECT_EQ(Now(left_), 0);
}

TEST_F(StorageWatchTest, WithdrawingWithoutPermissionIsNoticed) {
  const ScopedMutant mutant("storage.no_permission");
  Hang();
  time_.Advance(Millis(3'600'000));
  EXPECT_TRUE(Await(left_));
}

TEST_F(StorageWatchTest, AnOldPermissionIsNone) {
  watch_->Permit();
  time_.Advance(Millis(60'000));
  Hang();
  time_.Advance(Millis(20'000));
  AwaitPolls();
  EXPECT_EQ(Now(left_), 0);
}

TEST_F(StorageWatchTest, WhatComesBackInTimeIsNoReason) {
  Hang();
  time_.Advance(Millis(9'000));
  operation_.reset();
  EXPECT_EQ(watch_->OldestUnfinished(), std::nullopt);
  Hang();
  time_.Advance(Millis(9'000));
  watch_->Permit();
  AwaitPolls();
  EXPECT_EQ(Now(left_), 0);
}

TEST_F(StorageWatchTest, ALookIsWorkUnderWayItself) {
  watch_->Look(true);
  EXPECT_TRUE(Await(looks_));
  EXPECT_TRUE(Await(proofs_));
}

TEST(SyncWatchTest, TheOldestCountsAndMuchDataIsGivenTime) {
  ManualTime time;
  SyncWatch watch(time);
  EXPECT_EQ(watch.OldestUnfinished(), std::nullopt);
  EXPECT_EQ(watch.Proof(), std::nullopt);
  {
    const SyncWatch::Operation large(watch, 64ULL << 20);
    time.Advance(Millis(5'000));
    EXPECT_EQ(watch.OldestUnfinished(), Millis(0)) << "64 MiB may take half a minute";
    {
      SyncWatch::Operation small(watch, 0);
      time.Advance(Millis(3'000));
      EXPECT_EQ(watch.OldestUnfinished(), Millis(3'000));
      small.Proves();
    }
    EXPECT_EQ(watch.OldestUnfinished(), Millis(0));
    EXPECT_EQ(watch.Proof(), Millis(3'000)) << "what counts is when it began";
    time.Advance(Millis(60'000));
    EXPECT_EQ(watch.OldestUnfinished(), Millis(68'000 - 32'768));
  }
  EXPECT_EQ(watch.OldestUnfinished(), std::nullopt);
  EXPECT_EQ(watch.Proof(), Millis(63'000));
}

}  // namespace
}  // namespace ratchet::io
