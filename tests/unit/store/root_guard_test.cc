// The facts that the root keeps about a store that is lost or replaced: claims (S9': claim in root and store), a limit
// of pids (S117: pid limit), its age (S114: no start without the past).
#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "common/base/went_back.h"
#include "common/io/root_history.h"
#include "procedure/store/claim.h"
#include "tests/unit/store/store_harness.h"

namespace ratchet::procedure {
namespace {

class StoreGuardTest : public testing::Test {
 protected:
  // One owner that commits `count` records from `from` on, and ends. Returns its epoch.
  Epoch Work(std::uint64_t from, std::uint64_t count) {
    StoreProcess owner(disk_);
    const auto claimed = owner.Claim();
    EXPECT_TRUE(claimed.ok()) << claimed.error().ToString();
    if (!claimed.ok()) return {};
    for (std::uint64_t pid = from; pid < from + count; ++pid) EXPECT_TRUE(owner.CommitNow(Put(pid, 1, "x"))->ok());
    owner.StepAll();
    owner.time.Advance(Millis{61'000});
    owner.StepAll();
    owner.process->Crash();
    return claimed->epoch;
  }
  std::map<std::string, std::string> Copy() {
    std::map<std::string, std::string> copy;
    auto process = disk_.NewProcess();
    auto store = process->Open("/procedures").value();
    const auto names = store->List().value();
    for (const std::string& name : names) copy[name] = store->ReadAll(name).value();
    return copy;
  }
  void PutBack(const std::map<std::string, std::string>& copy) {
    auto process = disk_.NewProcess();
    auto root = process->Open("/").value();
    ASSERT_TRUE(root->Rename("procedures", "lost").ok());
    auto store = process->OpenOrMake("/procedures").value();
    for (const auto& [name, bytes] : copy) {
      auto file = store->Create(name).value();
      ASSERT_TRUE(file->Append(bytes).ok());
      ASSERT_TRUE(file->Sync().ok());
    }
    ASSERT_TRUE(store->Sync().ok());
  }
  io::RootNumbers Numbers() { return io::ReadRootNumbers(*disk_.NewProcess()->Open("/").value()).value(); }

  // The first pid of an owner whose store is an older copy, which an operator has accepted.
  ProcId FirstPidAfterAnOlderCopy() {
    Work(1, 3);
    const auto copy = Copy();
    const std::uint64_t greatest = RootGuard::kPidStep + 50;
    Work(greatest, 1);
    PutBack(copy);
    {
      auto numbers = disk_.NewProcess()->Open("/numbers").value();
      const auto names = numbers->List().value();
      for (const std::string& name : names) {
        if (!io::ParseStoreMark(name)) continue;
        EXPECT_TRUE(numbers->Rename(name, "store.0.0").ok());
      }
    }
    StoreProcess next(disk_);
    const auto claimed = next.Claim();
    EXPECT_TRUE(claimed.ok()) << claimed.error().ToString();
    return claimed.ok() ? claimed->max_pid.Next() : ProcId();
  }

  // Returns the epoch of an owner that finds procedures/ without its past.
  Epoch EpochInAnEmptyStore() {
    Work(1, 3);
    Work(4, 3);
    PutBack({});
    auto process = disk_.NewProcess();
    auto root = process->Open("/").value();
    auto store = process->Open("/procedures").value();
    return ClaimNextEpoch(*root, *store).value();
  }

  io::SimDisk disk_;
};

TEST_F(StoreGuardTest, ANewOwnerBeginsAboveTheLimit) {
  Work(1, 3);
  EXPECT_GE(Numbers().pid_limit, RootGuard::kPidStep);
  StoreProcess next(disk_);
  const auto claimed = next.Claim();
  ASSERT_TRUE(claimed.ok());
  EXPECT_GT(claimed->max_pid.value(), RootGuard::kPidStep);
  EXPECT_GT(Numbers().pid_limit, claimed->max_pid.value());
}

TEST_F(StoreGuardTest, TheLimitIsRaisedBeforeAPidAboveItIsWritten) {
  StoreProcess owner(disk_);
  ASSERT_TRUE(owner.Claim().ok());
  const std::uint64_t limit = Numbers().pid_limit;
  ASSERT_TRUE(owner.CommitNow(Put(limit, 1, "x"))->ok());
  EXPECT_EQ(Numbers().pid_limit, limit);
  // The process dies at the first write of the record's frame: the limit is durable already.
  owner.process->SetHook([](const io::SimEvent& event) {
    return event.op == io::SimOp::kAppend ? io::SimVerdict::CrashBefore() : io::SimVerdict::Proceed();
  });
  (void)owner.CommitNow(Put(limit + 1, 1, "x"));
  disk_.PowerFailure();
  EXPECT_GT(Numbers().pid_limit, limit + 1);
}

TEST_F(StoreGuardTest, APidIsNotGivenTwiceAfterAnOlderCopy) {
  EXPECT_GT(FirstPidAfterAnOlderCopy().value(), RootGuard::kPidStep + 50);
}

TEST_F(StoreGuardTest, AClaimIsAboveThoseInTheRoot) { EXPECT_EQ(EpochInAnEmptyStore(), Epoch(3)); }

TEST_F(StoreGuardTest, AnOwnerWhoseStoreWasMovedAwayIsFenced) {
  StoreProcess owner(disk_);
  ASSERT_TRUE(owner.Claim().ok());
  ASSERT_TRUE(owner.store->Check().ok());
  auto root = disk_.NewProcess()->Open("/").value();
  ASSERT_TRUE(root->Rename("procedures", "away").ok());
  EXPECT_EQ(owner.store->Check().error().code(), Code::kFenced);
  ASSERT_TRUE(root->Rename("away", "procedures").ok());
  EXPECT_TRUE(owner.store->Check().ok());
}

TEST_F(StoreGuardTest, ACopyOfTheStoreHidesNoClaim) {
  StoreProcess owner(disk_);
  ASSERT_TRUE(owner.Claim().ok());
  PutBack(Copy());  // with the owner's own claim
  StoreProcess next(disk_);
  ASSERT_TRUE(next.Claim().ok());
  EXPECT_EQ(owner.store->Check().error().code(), Code::kFenced);
}

// Masters of version 0.1 look in procedures/ only, and for the next epoch only.
TEST_F(StoreGuardTest, EpochsThatWereClaimedInTheRootOnlyAreFilledIn) {
  ASSERT_EQ(Work(1, 1), Epoch(1));
  auto process = disk_.NewProcess();
  auto root = process->Open("/").value();
  for (const char* claim : {"claim.2", "claim.3"}) ASSERT_TRUE(root->Create(claim).ok());
  EXPECT_EQ(Work(RootGuard::kPidStep + 5, 1), Epoch(4));
  auto store = process->Open("/procedures").value();
  for (const char* claim : {"claim.2", "claim.3", "claim.4"}) EXPECT_TRUE(store->Exists(claim).value()) << claim;
}

// A master of version 0.1 has claimed after this version's.
TEST_F(StoreGuardTest, AClaimInTheStoreAloneFencesAndIsCounted) {
  StoreProcess owner(disk_);
  ASSERT_TRUE(owner.Claim().ok());
  auto process = disk_.NewProcess();
  ASSERT_TRUE(ClaimNextEpoch(*process->Open("/procedures").value()).ok());
  EXPECT_EQ(owner.store->Check().error().code(), Code::kFenced);
  EXPECT_EQ(Work(RootGuard::kPidStep + 5, 1), Epoch(3));
}

TEST_F(StoreGuardTest, AnOlderCopyIsRefused) {
  Work(1, 3);
  const auto copy = Copy();
  Work(RootGuard::kPidStep + 5, 20);
  PutBack(copy);
  EXPECT_TRUE(IsWentBack(io::CheckRootPast(*disk_.NewProcess()->Open("/").value()).error()));
}

// An older copy of the same epoch, which its claims do not show.
TEST_F(StoreGuardTest, AnOlderCopyOfTheSameEpochIsRefused) {
  StoreProcess owner(disk_);
  ASSERT_TRUE(owner.Claim().ok());
  ASSERT_TRUE(owner.CommitNow(Put(1, 1, "x"))->ok());
  const auto copy = Copy();
  for (std::uint64_t pid = 2; pid < 9; ++pid) ASSERT_TRUE(owner.CommitNow(Put(pid, 1, "x"))->ok());
  owner.time.Advance(Millis{61'000});
  owner.StepAll();
  owner.process->Crash();
  PutBack(copy);
  StoreProcess next(disk_);
  const auto claimed = next.Claim();
  ASSERT_FALSE(claimed.ok());
  EXPECT_TRUE(IsWentBack(claimed.error()));
  EXPECT_NE(claimed.error().message().find("older copy"), std::string::npos);
  {
    const ScopedMutant mutant("guard.any_age");
    StoreProcess again(disk_);
    EXPECT_TRUE(again.Claim().ok()) << "without the rule it begins";
  }
}

TEST_F(StoreGuardTest, ForgettingTheLimitIsNoticed) {
  const ScopedMutant mutant("store.forget_limit");
  EXPECT_LE(FirstPidAfterAnOlderCopy().value(), RootGuard::kPidStep + 50);
}

TEST_F(StoreGuardTest, ClaimingInTheStoreOnlyIsNoticed) {
  const ScopedMutant mutant("store.claim_in_store_only");
  EXPECT_EQ(EpochInAnEmptyStore(), Epoch(1));
}

}  // namespace
}  // namespace ratchet::procedure
