// A region server's reports and actions while its storage hangs: no part may wait for it.
#include "regionserver/process/storage_health.h"

#include <gtest/gtest.h>

#include "common/base/mutex.h"
#include "tests/support/manual_time.h"
#include "tests/support/sim_disk.h"

namespace ratchet::regionserver {
namespace {

constexpr Millis kPatienceOfHealth{20'000};

class StorageHealthTest : public ::testing::Test {
 protected:
  StorageHealthTest() {
    auto root = process_->OpenOrMake("/wals");
    if (root.ok()) directory_ = std::move(*root);
    StorageHealthParts parts;
    parts.look = [this] {
      MutexLock lock(mutex_);
      ++looks_;
      changed_.NotifyAll();
      while (hangs_) changed_.Wait(mutex_);
      ++looked_;
      changed_.NotifyAll();
    };
    parts.log_directory = [this] { return directory_.get(); };
    parts.leave = [this] { Note(left_); };
    parts.end = [this](const std::string&) { Note(ended_); };
    health_ = std::make_unique<StorageHealth>(time_, syncs_, Millis(10'000), std::move(parts));
  }
  ~StorageHealthTest() override {
    Hang(false);
    health_.reset();
  }

  // Other code has used the storage.
  void Sync() {
    io::SyncWatch::Operation operation(syncs_, 0);
    operation.Proves();
  }
  void Note(int& what) {
    MutexLock lock(mutex_);
    ++what;
    changed_.NotifyAll();
  }
  void Hang(bool hang) {
    MutexLock lock(mutex_);
    hangs_ = hang;
    changed_.NotifyAll();
  }
  bool Await(const int& what, int count) {
    const auto until = SystemClock().Now() + kPatienceOfHealth;
    MutexLock lock(mutex_);
    while (what < count && SystemClock().Now() < until) changed_.WaitFor(mutex_, Millis(50));
    return what >= count;
  }
  hbase::pb::StorageReport Report() const {
    hbase::pb::StorageReport report;
    health_->Fill(report);
    return report;
  }
  bool AwaitProof() {
    const auto until = SystemClock().Now() + kPatienceOfHealth;
    MutexLock lock(mutex_);
    while (!Proven() && SystemClock().Now() < until) changed_.WaitFor(mutex_, Millis(20));
    return Proven();
  }
  bool Proven() const {
    const auto there = directory_->Exists(kProofFile);
    return there.ok() && *there;
  }

  ManualTime time_;
  io::SyncWatch syncs_{time_};
  io::SimDisk disk_;
  std::unique_ptr<io::SimDisk::Process> process_ = disk_.NewProcess();
  std::unique_ptr<io::Directory> directory_;
  Mutex mutex_;
  CondVar changed_;
  bool hangs_ = false;
  int looks_ = 0;
  int looked_ = 0;
  int left_ = 0;
  int ended_ = 0;
  std::unique_ptr<StorageHealth> health_;
};

// The check of its own log directory hangs, like every access to a file system that is cut off.
TEST_F(StorageHealthTest, AHangingLookIsReportedAndWaitedForByNobody) {
  Hang(true);
  health_->Look();
  ASSERT_TRUE(Await(looks_, 1));
  health_->Look();  // the next heartbeats
  time_.Advance(Millis(7'000));
  health_->Look();
  const auto report = Report();
  EXPECT_EQ(report.oldest_unfinished_ms(), 7'000U);
  EXPECT_EQ(report.limit_ms(), 10'000U);
  EXPECT_FALSE(report.has_proof_ms());
  Hang(false);
  ASSERT_TRUE(Await(looked_, 2)) << "one look for all that were asked for meanwhile";
}

TEST_F(StorageHealthTest, WithdrawsWhenTheMasterSaysThatOthersAreBetterOff) {
  Hang(true);
  health_->Look();
  ASSERT_TRUE(Await(looks_, 1));
  time_.Advance(Millis(11'000));
  hbase::pb::RegionServerReportResponse answer;
  health_->Answered(&answer);
  answer.set_may_withdraw(true);
  health_->Answered(&answer);
  EXPECT_TRUE(Await(left_, 1));
  EXPECT_TRUE(Await(ended_, 1));
}

TEST_F(StorageHealthTest, ProvesItsStorageWhenTheMasterAsksOrSaysNothing) {
  hbase::pb::RegionServerReportResponse answer;
  health_->Answered(&answer);
  Sync();
  health_->Look();
  ASSERT_TRUE(Await(looked_, 1));
  health_->Look();
  ASSERT_TRUE(Await(looked_, 2));
  EXPECT_FALSE(Proven()) << "without a reason nothing is written";
  time_.Advance(Millis(3'000));  // the master no longer answers
  Sync();
  health_->Look();
  EXPECT_TRUE(AwaitProof());
}

TEST_F(StorageHealthTest, AnIdleServerTriesItsStorage) {
  hbase::pb::RegionServerReportResponse answer;
  Sync();
  time_.Advance(Millis(6'000));
  health_->Answered(&answer);
  health_->Look();
  EXPECT_TRUE(AwaitProof());
}

}  // namespace
}  // namespace ratchet::regionserver
