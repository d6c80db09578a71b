// The store's ordinary life: commit, reload, roll, clean up, refuse.
#include <algorithm>

#include <gtest/gtest.h>

#include "tests/unit/store/store_harness.h"

namespace ratchet::procedure {
namespace {

TEST(WalStoreTest, AnEmptyStoreLoadsEmpty) {
  io::SimDisk disk;
  StoreProcess master(disk);
  const auto loaded = master.Claim();
  ASSERT_TRUE(loaded.ok()) << loaded.error().ToString();
  EXPECT_EQ(loaded->epoch, Epoch(1));
  EXPECT_TRUE(loaded->records.empty());
  EXPECT_FALSE(loaded->max_pid.valid());
  EXPECT_TRUE(master.store->Check().ok());
}

TEST(WalStoreTest, WhatWasCommittedIsLoadedByTheNextOwner) {
  io::SimDisk disk;
  Picture expected;
  {
    StoreProcess master(disk);
    ASSERT_TRUE(master.Claim().ok());
    for (StoreBatch batch : {Put(1, 1, "a"), Put(2, 1, "b"), Put(1, 2, "aa"), PutSystem("meta", "rs1"), Remove(2),
                             Put(7, 1, "x"), Remove(7)}) {
      expected.Apply(batch);
      const auto done = master.CommitNow(std::move(batch));
      ASSERT_TRUE(done && done->ok());
    }
  }
  disk.PowerFailure();
  StoreProcess next(disk);
  const auto loaded = next.Claim();
  ASSERT_TRUE(loaded.ok()) << loaded.error().ToString();
  EXPECT_EQ(loaded->epoch, Epoch(2));
  EXPECT_EQ(PictureOf(*loaded), expected);
  EXPECT_EQ(loaded->max_pid, ProcId(7)) << "a deleted pid still counts";
  EXPECT_GT(next.store->TakeSequence(), loaded->last_sequence);
}

TEST(WalStoreTest, ManySegmentsComeAndGo) {
  io::SimDisk disk;
  StoreProcess master(disk);
  ASSERT_TRUE(master.Claim().ok());
  Picture expected;
  const auto commit = [&](StoreBatch batch) {
    expected.Apply(batch);
    const auto done = master.CommitNow(std::move(batch));
    ASSERT_TRUE(done && done->ok());
    master.StepAll();
  };
  commit(Put(1, 1, "a straggler that is never touched again"));
  commit(PutSystem("straggler", "too"));
  std::vector<std::uint64_t> versions(20, 0);
  for (int i = 0; i < 400; ++i) {
    const std::uint64_t pid = 10 + static_cast<std::uint64_t>(i) % 20;
    commit(Put(pid, ++versions[pid - 10], std::string(100, static_cast<char>('a' + i % 26))));
  }
  EXPECT_GT(master.store->metrics().rolls, 10U);
  EXPECT_GT(master.store->metrics().rewritten_records, 0U);
  EXPECT_LE(master.store->metrics().segments, 4U);
  auto directory = master.process->Open("/procedures");
  ASSERT_TRUE(directory.ok());
  EXPECT_LE((*directory)->List()->size(), 7U) << "dead segments are removed";
  disk.PowerFailure();
  StoreProcess next(disk);
  const auto loaded = next.Claim();
  ASSERT_TRUE(loaded.ok()) << loaded.error().ToString();
  EXPECT_EQ(PictureOf(*loaded), expected);
}

TEST(WalStoreTest, ASegmentIsRolledWhenItIsOld) {
  io::SimDisk disk;
  WalStoreOptions options = SmallOptions();
  options.segment_age = Millis{1'000};
  StoreProcess master(disk, options);
  ASSERT_TRUE(master.Claim().ok());
  ASSERT_TRUE(master.CommitNow(Put(1, 1, "a"))->ok());
  master.time.Advance(Millis{999});
  ASSERT_TRUE(master.CommitNow(Put(2, 1, "b"))->ok());
  EXPECT_EQ(master.store->metrics().rolls, 0U);
  master.time.Advance(Millis{1});
  ASSERT_TRUE(master.CommitNow(Put(3, 1, "c"))->ok());
  EXPECT_EQ(master.store->metrics().rolls, 1U);
  master.time.Advance(Millis{5'000});
  EXPECT_EQ(master.store->metrics().rolls, 1U) << "nothing was written: nothing is rolled";
}

// However the work of the background is interleaved, stragglers are rewritten and old segments go.
TEST(WalStoreTest, TheNumberOfSegmentsStaysBounded) {
  for (int chores_every = 1; chores_every <= 9; ++chores_every) {
    io::SimDisk disk;
    WalStoreOptions options = SmallOptions();
    options.max_frame_bytes = 1024;
    options.max_segments = 3;
    StoreProcess master(disk, options);
    ASSERT_TRUE(master.Claim().ok());
    for (std::uint64_t pid = 1; pid <= 8; ++pid) ASSERT_TRUE(master.CommitNow(Put(pid, 1, std::string(100, 's')))->ok());
    std::uint64_t most = 0;
    for (std::uint64_t version = 1; version <= 300; ++version) {
      ASSERT_TRUE(master.CommitNow(Put(99, version, std::string(200, 'x')))->ok());
      if (version % static_cast<std::uint64_t>(chores_every) == 0) master.store->StepHousekeeping();
      most = std::max(most, master.store->metrics().segments);
    }
    // Without rewriting there would be more than thirty. Rewriting takes a few rounds of chores, and so many segments more.
    EXPECT_LE(most, options.max_segments + 6) << "chores after every " << chores_every << " commits";
    EXPECT_GT(master.store->metrics().rewritten_records, 8U);
  }
}

TEST(WalStoreTest, AVersionThatDoesNotFollowIsRefusedAndNothingOfItsBatchIsWritten) {
  io::SimDisk disk;
  StoreProcess master(disk);
  ASSERT_TRUE(master.Claim().ok());
  ASSERT_TRUE(master.CommitNow(Put(1, 1, "a"))->ok());
  StoreBatch batch = Put(2, 1, "b");
  batch.upserts.push_back({ProcId(1), 3, "gap"});
  EXPECT_EQ(master.CommitNow(std::move(batch))->error().code(), Code::kStale);
  EXPECT_EQ(master.CommitNow(Put(1, 1, "again"))->error().code(), Code::kStale);
  EXPECT_EQ(master.CommitNow(Remove(9))->error().code(), Code::kStale);
  EXPECT_TRUE(master.CommitNow(Put(2, 1, "b"))->ok());
  StoreBatch twice = Put(1, 2, "b");
  twice.deletes.push_back(ProcId(1));
  EXPECT_EQ(master.CommitNow(std::move(twice))->error().code(), Code::kStale);
}

TEST(WalStoreTest, ADeposedOwnerCompletesNothing) {
  io::SimDisk disk;
  StoreProcess old(disk);
  ASSERT_TRUE(old.Claim().ok());
  ASSERT_TRUE(old.CommitNow(Put(1, 1, "a"))->ok());
  StoreProcess next(disk);
  const auto loaded = next.Claim();
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(old.store->Check().error().code(), Code::kFenced);
  EXPECT_EQ(old.CommitNow(Put(1, 2, "zombie"))->error().code(), Code::kFenced);
  EXPECT_EQ(old.CommitNow(Put(5, 1, "zombie"))->error().code(), Code::kFenced);
  ASSERT_TRUE(next.CommitNow(Put(1, 2, "next"))->ok());
  StoreProcess third(disk);
  const auto again = third.Claim();
  ASSERT_TRUE(again.ok()) << again.error().ToString();
  ASSERT_EQ(again->records.size(), 1U);
  EXPECT_EQ(again->records[0].bytes, "next");
}

TEST(WalStoreTest, AStoppedStoreCompletesWhatItCanAndRefusesTheRest) {
  for (const bool threads : {false, true}) {
    io::SimDisk disk;
    WalStoreOptions options = SmallOptions();
    options.threads = threads;
    StoreProcess master(disk, options);
    ASSERT_TRUE(master.Claim().ok());
    std::vector<std::string> outcomes;  // continuations run one at a time, and Stop waits for them
    const auto note = [&outcomes](Result<std::uint64_t> done) {
      outcomes.push_back(done.ok() ? "ok" : std::string(CodeName(done.error().code())));
    };
    master.store->Commit(Put(1, 1, "a"), note);
    master.store->Stop();
    master.store->Commit(Put(2, 1, "late"), note);
    EXPECT_EQ(outcomes, (std::vector<std::string>{"ok", "ABORTED"}));

    StoreProcess full(disk, options);
    ASSERT_TRUE(full.Claim().ok());
    disk.SetCapacity(disk.used_bytes());
    outcomes.clear();
    full.store->Commit(Put(5, 1, std::string(3000, 'x')), note);
    full.store->Stop();
    EXPECT_EQ(outcomes, std::vector<std::string>{"ABORTED"}) << "there was no space for it, and Stop does not hang";
  }
}

TEST(WalStoreTest, ThreadsDoTheSame) {
  io::SimDisk disk;
  WalStoreOptions options = SmallOptions();
  options.threads = true;
  options.spares = 2;
  Mutex mutex;
  CondVar cond;
  int completed = 0;
  std::uint64_t last = 0;
  {
    StoreProcess master(disk, options);
    ASSERT_TRUE(master.Claim().ok());
    constexpr int kCommits = 2000;
    for (int i = 1; i <= kCommits; ++i) {
      master.store->Commit(Put(static_cast<std::uint64_t>(i), 1, std::string(50, 'x')),
                           [&](Result<std::uint64_t> sequence) {
                             MutexLock lock(mutex);
                             EXPECT_TRUE(sequence.ok());
                             EXPECT_GT(*sequence, last);
                             last = *sequence;
                             ++completed;
                             cond.NotifyAll();
                           });
    }
    MutexLock lock(mutex);
    while (completed < kCommits) cond.Wait(mutex);
    EXPECT_LT(master.store->metrics().syncs, 2000U) << "commits share syncs";
  }
  StoreProcess next(disk);
  const auto loaded = next.Claim();
  ASSERT_TRUE(loaded.ok()) << loaded.error().ToString();
  EXPECT_EQ(loaded->records.size(), 2000U);
}

}  // namespace
}  // namespace ratchet::procedure
