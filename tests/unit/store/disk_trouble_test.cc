// Full disks and failed syncs (S6: failed sync ends the process), and the rules whose absence only such trouble shows
// (S8: act only on durable records; S10: low-water record before removal; S11: one commit per pid).
#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "tests/support/expect_killed.h"
#include "tests/unit/store/scenario.h"

namespace ratchet::procedure {
namespace {

using io::SimDisk;
using io::SimEvent;
using io::SimOp;
using io::SimVerdict;

TEST(DiskTroubleTest, AFailedSyncEndsTheProcessAndCompletesNothing) {
  SimDisk disk;
  StoreProcess master(disk);
  ASSERT_TRUE(master.Claim().ok());
  ASSERT_TRUE(master.CommitNow(Put(1, 1, "a"))->ok());
  const int before = deaths;
  master.process->SetHook(io::FailOps(SimOp::kSyncFile, "segment", Code::kIo));
  EXPECT_FALSE(master.CommitNow(Put(1, 2, "lost?")).has_value()) << "no caller gets an answer";
  EXPECT_EQ(deaths, before + 1);
  master.process->SetHook({});
  EXPECT_FALSE(master.CommitNow(Put(2, 1, "later")).has_value()) << "a dead process does not come back";
  EXPECT_FALSE(master.store->Check().ok());
}

// A store whose next commit needs a new segment, which cannot be made.
void FillSegmentAndFailTheNext(StoreProcess& master) {
  ASSERT_TRUE(master.CommitNow(Put(1, 1, std::string(3000, 'x')))->ok());
  master.process->SetHook(io::FailOps(SimOp::kCreate, "segment", Code::kNotFound));
}

TEST(DiskTroubleTest, AnOwnerThatCannotMakeItsNextSegmentEnds) {
  SimDisk disk;
  StoreProcess master(disk);
  ASSERT_TRUE(master.Claim().ok());
  FillSegmentAndFailTheNext(master);
  const int before = deaths;
  EXPECT_FALSE(master.CommitNow(Put(2, 1, "waits for whoever comes next")).has_value());
  EXPECT_EQ(deaths, before + 1) << "or its commits would wait without end";
}

// The successor removes files that it does not need, also the segment that the old owner is just making.
TEST(DiskTroubleTest, ADeposedOwnerThatCannotMakeItsNextSegmentIsFenced) {
  SimDisk disk;
  StoreProcess old(disk);
  ASSERT_TRUE(old.Claim().ok());
  FillSegmentAndFailTheNext(old);
  StoreProcess next(disk);
  ASSERT_TRUE(next.Claim().ok());
  const int before = deaths;
  const auto done = old.CommitNow(Put(2, 1, "too late"));
  ASSERT_TRUE(done.has_value()) << "nobody is left waiting";
  EXPECT_EQ(done->error().code(), Code::kFenced);
  EXPECT_EQ(deaths, before);
}

// A commit whose sync fails must not be acknowledged after a retry: the page cache lies (S6).
std::string FailedSyncFault() {
  SimDisk disk;
  bool acknowledged = false;
  {
    StoreProcess master(disk);
    EXPECT_TRUE(master.Claim().ok());
    bool failed = false;
    master.process->SetHook([&](const SimEvent& event) {
      if (event.op != SimOp::kSyncFile || failed) return SimVerdict::Proceed();
      failed = true;
      return SimVerdict::Fail(Code::kIo);
    });
    const auto done = master.CommitNow(Put(1, 1, "a"));
    acknowledged = done && done->ok();
    master.process->SetHook({});
    master.process->Crash();
  }
  disk.PowerFailure();
  StoreProcess next(disk);
  const auto loaded = next.Claim();
  if (!loaded.ok()) return "claim failed";
  return acknowledged && loaded->records.empty() ? "acknowledged and lost" : "";
}

TEST(DiskTroubleTest, ASyncIsNotTriedAgain) {
  EXPECT_EQ(FailedSyncFault(), "");
  ExpectKilled(
      "store.survive_failed_sync", [] { return FailedSyncFault(); }, "acknowledged and lost");
}

// The old owner's sync failed and it died; its record is in the page cache only, marked clean. The claimer reads it and
// acts; then the storage loses power. Only a copy in the claimer's own segment saves it (S8: act only on durable
// records).
std::string UnsyncedRecordFault() {
  SimDisk disk;
  {
    StoreProcess old(disk);
    EXPECT_TRUE(old.Claim().ok());
    EXPECT_TRUE(old.CommitNow(Put(1, 1, "base"))->ok());
    old.process->SetHook(io::FailOps(SimOp::kSyncFile, "segment", Code::kIo));
    EXPECT_FALSE(old.CommitNow(Put(2, 1, "in the page cache only")).has_value());
    EXPECT_TRUE(old.process != nullptr);
    old.process->Crash();
  }
  StoreState acted_on;
  {
    StoreProcess next(disk);
    const auto loaded = next.Claim();
    if (!loaded.ok()) return "claim failed";
    acted_on = StateOf(*loaded);
    // the claimer may also miss the record, and then no later owner sees it
    if (!acted_on.records.contains(2)) return "";
  }
  disk.PowerFailure();
  StoreProcess last(disk);
  const auto loaded = last.Claim();
  if (!loaded.ok()) return "claim after the power failure failed: " + loaded.error().message();
  return StateOf(*loaded) == acted_on ? "" : "something that was acted on is gone";
}

TEST(DiskTroubleTest, AClaimerCopiesWhatItActsOn) {
  EXPECT_EQ(UnsyncedRecordFault(), "");
  ExpectKilled(
      "store.no_copy", [] { return UnsyncedRecordFault(); }, "claim after the power failure failed");
}

// S10 (low-water record before removal): each crash after the removal of a segment.
std::string RemovalFault() {
  for (std::uint64_t number = 20; number < 140; ++number) {
    for (const auto loss : {SimDisk::Loss::kEverything, SimDisk::Loss::kNothing}) {
      SimDisk disk;
      const ScenarioEnd end = RunScenario(disk, io::CrashAtOp(number));
      disk.PowerFailure(loss);
      std::string fault = CheckTwice(disk, end);
      if (!fault.empty()) return fault;
    }
  }
  return "";
}

TEST(DiskTroubleTest, SegmentsGoOnlyAfterTheLowWaterRecord) {
  EXPECT_EQ(RemovalFault(), "");
  ExpectKilled(
      "store.unlink_before_low_water", [] { return RemovalFault(); }, "the segment is missing");
}

// S11 (one commit per pid): a store that takes any version writes what it cannot load.
TEST(DiskTroubleTest, VersionsFollow) {
  const auto load_after_gap = [] {
    SimDisk disk;
    StoreProcess master(disk);
    EXPECT_TRUE(master.Claim().ok());
    EXPECT_TRUE(master.CommitNow(Put(1, 1, "a"))->ok());
    const bool taken = master.CommitNow(Put(1, 3, "a commit overtook another"))->ok();
    master.process->Crash();
    StoreProcess next(disk);
    return std::pair(taken, next.Claim().ok());
  };
  EXPECT_EQ(load_after_gap(), std::pair(false, true));
  const ScopedMutant mutant("store.any_version");
  EXPECT_EQ(load_after_gap(), std::pair(true, false));
}

TEST(DiskTroubleTest, AFullDiskHoldsCommitsBackUntilThereIsSpace) {
  SimDisk disk;
  StoreProcess master(disk);
  ASSERT_TRUE(master.Claim().ok());
  ASSERT_TRUE(master.CommitNow(Put(1, 1, "a"))->ok());
  disk.SetCapacity(disk.used_bytes());
  std::optional<bool> completed;
  std::uint64_t pid = 2;
  // What is preallocated may still be used; then commits wait, and nothing dies.
  for (; !completed.has_value() || *completed; ++pid) {
    completed.reset();
    master.store->Commit(Put(pid, 1, std::string(300, 'x')),
                         [&](Result<std::uint64_t> done) { completed = done.ok(); });
    while (master.store->StepOnce()) {
    }
    if (!completed.has_value()) break;
    ASSERT_LT(pid, 100U);
  }
  const int before = deaths;
  EXPECT_FALSE(master.store->StepOnce());
  EXPECT_EQ(deaths, before);
  EXPECT_TRUE(master.store->Check().ok()) << "still the owner";
  disk.SetCapacity(UINT64_MAX);
  while (master.store->StepOnce()) {
  }
  EXPECT_EQ(completed, std::optional<bool>(true));
}

// HBASE-20338. The new segment is not relied upon yet, so waiting loses nothing.
TEST(DiskTroubleTest, ARollForWhichThereIsNoSpaceNowIsTriedAgain) {
  SimDisk disk;
  StoreProcess master(disk);
  ASSERT_TRUE(master.Claim().ok());
  const int before = deaths;
  int refusals = 0;
  master.process->SetHook([&](const SimEvent& event) {
    if (event.op != SimOp::kCreate || event.path.find("segment") == std::string::npos) return SimVerdict::Proceed();
    ++refusals;
    return SimVerdict::Fail(Code::kNoSpace);
  });
  StoreState expected;
  std::uint64_t completed = 0;
  constexpr std::uint64_t kCommits = 30;
  for (std::uint64_t pid = 1; pid <= kCommits; ++pid) {
    StoreBatch batch = Put(pid, 1, std::string(200, 'x'));
    expected.Apply(batch);
    master.store->Commit(std::move(batch), [&](const Result<std::uint64_t>& done) { completed += done.ok() ? 1 : 0; });
    for (int tries = 0; tries < 3; ++tries) master.store->StepOnce();
  }
  EXPECT_GT(refusals, 1) << "it was tried again";
  EXPECT_EQ(master.store->metrics().rolls, 0U);
  EXPECT_EQ(deaths, before);
  EXPECT_TRUE(master.store->Check().ok()) << "still the owner";
  master.process->SetHook({});
  master.StepAll();
  EXPECT_EQ(completed, kCommits);
  // The records may have gone into the open segment; the roll comes with the next commit.
  EXPECT_TRUE(master.CommitNow(Put(kCommits + 1, 1, "late"))->ok());
  expected.Apply(Put(kCommits + 1, 1, "late"));
  EXPECT_GT(master.store->metrics().rolls, 0U);
  master.process->Crash();
  StoreProcess next(disk);
  const auto loaded = next.Claim();
  ASSERT_TRUE(loaded.ok()) << loaded.error().ToString();
  EXPECT_EQ(StateOf(*loaded), expected);
}

TEST(DiskTroubleTest, TheReserveLetsASuccessorClaimAndFinishOnAFullDisk) {
  SimDisk disk;
  WalStoreOptions options = SmallOptions();
  options.spares = 2;
  StoreState expected;
  {
    StoreProcess master(disk, options);
    ASSERT_TRUE(master.Claim().ok());
    master.StepAll();
    for (std::uint64_t pid = 1; pid <= 5; ++pid) {
      StoreBatch batch = Put(pid, 1, std::string(200, 'x'));
      expected.Apply(batch);
      ASSERT_TRUE(master.CommitNow(std::move(batch))->ok());
    }
    EXPECT_TRUE(master.store->Admit().ok());
    disk.SetCapacity(disk.used_bytes());
    master.process->Crash();
  }
  StoreProcess next(disk, options);
  const auto loaded = next.Claim();
  ASSERT_TRUE(loaded.ok()) << loaded.error().ToString();
  EXPECT_EQ(StateOf(*loaded), expected);
  next.StepAll();
  EXPECT_EQ(next.store->Admit().error().code(), Code::kNoSpace) << "new procedures are refused";
  for (std::uint64_t pid = 1; pid <= 5; ++pid) {
    const auto done = next.CommitNow(Remove(pid));
    ASSERT_TRUE(done && done->ok()) << "work in progress finishes";
  }
  disk.SetCapacity(UINT64_MAX);
  next.StepAll();
  EXPECT_TRUE(next.store->Admit().ok());
}

// A claimer and the owner that it deposed want the same spare: the slower one finds it gone.
TEST(DiskTroubleTest, ASpareIsTakenByOneOnly) {
  for (int at = 1; at < 60; ++at) {
    SimDisk disk;
    WalStoreOptions options = SmallOptions();
    options.spares = 1;
    StoreProcess old(disk, options);
    ASSERT_TRUE(old.Claim().ok());
    old.StepAll();
    for (std::uint64_t pid = 1; pid <= 18; ++pid) ASSERT_TRUE(old.CommitNow(Put(pid, 1, std::string(100, 'x')))->ok());
    StoreProcess next(disk, options);
    std::optional<StoreState> seen;
    int count = 0;
    old.process->SetHook([&](const SimEvent&) {
      if (++count == at) {
        const auto loaded = next.Claim();
        EXPECT_TRUE(loaded.ok()) << loaded.error().ToString();
        if (loaded.ok()) seen = StateOf(*loaded);
        EXPECT_TRUE(next.CommitNow(Put(500, 1, "next"))->ok());
      }
      return SimVerdict::Proceed();
    });
    for (std::uint64_t pid = 19; pid <= 24; ++pid) {  // rolls
      const auto done = old.CommitNow(Put(pid, 1, std::string(200, 'y')));
      if (!done || !done->ok()) break;
    }
    old.process->SetHook({});
    if (!seen) break;
    next.process->Crash();
    StoreProcess last(disk, options);
    const auto loaded = last.Claim();
    ASSERT_TRUE(loaded.ok()) << at << ": " << loaded.error().ToString();
    seen->Apply(Put(500, 1, "next"));
    EXPECT_EQ(StateOf(*loaded), *seen);
  }
}

}  // namespace
}  // namespace ratchet::procedure
