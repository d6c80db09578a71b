// The store's ordinary life: commit, reload, roll, clean up, refuse.
#include <algorithm>
#include <atomic>
#include <future>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "tests/support/memory_store.h"
#include "tests/support/sim_client.h"
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
  StoreState expected;
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
  EXPECT_EQ(StateOf(*loaded), expected);
  EXPECT_GE(loaded->max_pid, ProcId(7)) << "a deleted pid still counts";
  EXPECT_GT(next.store->NextSequence(), loaded->last_sequence);
}

TEST(WalStoreTest, GroupEndIsReportedOnceAfterItsLastCompletion) {
  io::SimDisk disk;
  StoreProcess master(disk);
  std::string seen;
  ASSERT_TRUE(master.Open());
  ASSERT_TRUE(master.store->AnnounceGroups([&seen] { seen += '.'; }));
  ASSERT_TRUE(master.store->Claim().ok());
  const auto commit = [&](StoreBatch batch) {
    master.store->Commit(std::move(batch),
                         [&seen](const Result<std::uint64_t>& done) { seen += done.ok() ? 'd' : 'x'; });
  };
  commit(Put(1, 1, "a"));
  commit(Put(2, 1, "b"));
  commit(Put(3, 7, "refused: its version does not follow"));
  commit(Put(4, 1, "d"));
  EXPECT_EQ(seen, "");
  ASSERT_TRUE(master.store->StepOnce());
  EXPECT_EQ(seen, "ddxd.");
  commit(Put(1, 2, "aa"));
  ASSERT_TRUE(master.store->StepOnce());
  EXPECT_EQ(seen, "ddxd.d.");
}

TEST(WalStoreTest, ManySegmentsComeAndGo) {
  io::SimDisk disk;
  StoreProcess master(disk);
  ASSERT_TRUE(master.Claim().ok());
  StoreState expected;
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
  EXPECT_EQ(StateOf(*loaded), expected);
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

// However the background work is interleaved, stragglers are rewritten and old segments are removed.
TEST(WalStoreTest, TheNumberOfSegmentsStaysBounded) {
  for (int chores_every = 1; chores_every <= 9; ++chores_every) {
    io::SimDisk disk;
    WalStoreOptions options = SmallOptions();
    options.max_frame_bytes = 1024;
    options.max_segments = 3;
    StoreProcess master(disk, options);
    ASSERT_TRUE(master.Claim().ok());
    for (std::uint64_t pid = 1; pid <= 8; ++pid)
      ASSERT_TRUE(master.CommitNow(Put(pid, 1, std::string(100, 's')))->ok());
    std::uint64_t most = 0;
    for (std::uint64_t version = 1; version <= 300; ++version) {
      ASSERT_TRUE(master.CommitNow(Put(99, version, std::string(200, 'x')))->ok());
      if (version % static_cast<std::uint64_t>(chores_every) == 0) master.store->StepHousekeeping();
      most = std::max(most, master.store->metrics().segments);
    }
    // Without rewriting there would be more than thirty. Rewriting takes a few rounds of background work, and that many
    // more segments.
    EXPECT_LE(most, options.max_segments + 6) << "chores after every " << chores_every << " commits";
    EXPECT_GT(master.store->metrics().rewritten_records, 8U);
  }
}

// More live records than the bounded number of segments holds: continuous rewriting would gain nothing.
TEST(WalStoreTest, WhatLivesIsNotRewrittenForEver) {
  io::SimDisk disk;
  const WalStoreOptions options = SmallOptions();
  StoreProcess master(disk, options);
  ASSERT_TRUE(master.Claim().ok());
  const std::uint64_t live = 100;
  const std::uint64_t full = live * (100 + 32) / options.segment_bytes;  // segments that the live records fill
  ASSERT_GT(full, options.max_segments);
  const auto commit = [&](StoreBatch batch) {
    ASSERT_TRUE(master.CommitNow(std::move(batch))->ok());
    for (int step = 0; master.store->StepOnce() || master.store->StepHousekeeping(); ++step) {
      ASSERT_LT(step, 1'000) << "it never comes to rest";
    }
  };
  for (std::uint64_t pid = 1; pid <= live; ++pid) commit(Put(pid, 1, std::string(100, 'l')));
  EXPECT_EQ(master.store->metrics().rewritten_records, 0U) << "nothing is garbage";
  EXPECT_GT(master.store->metrics().segments, options.max_segments);
  // At most the same amount is garbage. For each record that becomes garbage, about one record is rewritten.
  for (std::uint64_t version = 1; version <= 1'000; ++version) commit(Put(1'000, version, std::string(100, 'g')));
  EXPECT_LE(master.store->metrics().segments, 2 * (full + 1) + 1);
  EXPECT_GT(master.store->metrics().rewritten_records, live);
  EXPECT_LT(master.store->metrics().rewritten_records, 2'000U);
  for (std::uint64_t pid = 1; pid <= live; ++pid) commit(Remove(pid));
  EXPECT_LE(master.store->metrics().segments, options.max_segments) << "what lived has gone, and so has its room";
}

// The rewrite of the segment is requested, but all of its records are replaced by newer ones before it is read.
TEST(WalStoreTest, ASegmentThatDiedBeforeItsStragglersWereReadIsNotReadAnyMore) {
  io::SimDisk disk;
  StoreProcess master(disk);
  ASSERT_TRUE(master.Claim().ok());
  std::set<std::string> removed;
  std::vector<std::string> late;
  master.process->SetHook([&](const io::SimEvent& event) {
    if (event.op == io::SimOp::kUnlink) removed.insert(event.path);
    if (!io::Changes(event.op) && removed.contains(event.path)) late.push_back(event.ToString());
    return io::SimVerdict::Proceed();
  });
  std::uint64_t version = 0;
  ASSERT_TRUE(master.CommitNow(Put(1, 1, "straggler"))->ok());
  while (master.store->metrics().segments <= SmallOptions().max_segments) {
    ASSERT_TRUE(master.CommitNow(Put(99, ++version, std::string(200, 'x')))->ok());
  }
  ASSERT_TRUE(master.CommitNow(Put(1, 2, "moved"))->ok());  // no claimer has read the oldest segment yet
  while (master.store->metrics().segments > 1) {
    ASSERT_TRUE(master.CommitNow(Put(99, ++version, std::string(200, 'x')))->ok());
  }
  master.StepAll();
  EXPECT_EQ(removed.size(), 3U);
  EXPECT_EQ(late, std::vector<std::string>{});
}

// The writer asks once for each segment: a request that cannot be carried out now must not be the last one.
TEST(WalStoreTest, StragglersThatCannotBeReadAreReadLater) {
  io::SimDisk disk;
  StoreProcess master(disk);
  ASSERT_TRUE(master.Claim().ok());
  ASSERT_TRUE(master.CommitNow(Put(1, 1, "straggler"))->ok());
  bool broken = true;
  int refused = 0;
  master.process->SetHook([&](const io::SimEvent& event) {
    if (!broken || event.op != io::SimOp::kRead) return io::SimVerdict::Proceed();
    ++refused;
    return io::SimVerdict::Fail(Code::kIo);
  });
  std::uint64_t version = 0;
  const auto run = [&](int commits) {
    for (int i = 0; i < commits; ++i) {
      ASSERT_TRUE(master.CommitNow(Put(99, ++version, std::string(200, 'x')))->ok());
      master.StepAll();
    }
  };
  run(60);
  EXPECT_GT(refused, 0);
  EXPECT_GT(master.store->metrics().segments, SmallOptions().max_segments + 2) << "the straggler holds them";
  broken = false;
  run(20);
  EXPECT_LE(master.store->metrics().segments, SmallOptions().max_segments + 1);
  EXPECT_GT(master.store->metrics().rewritten_records, 0U);
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

// Each of many threads sleeps until its own commit is durable, and is woken for it whatever the order of the other
// wake-ups.
TEST(WalStoreTest, ThreadsWaitForTheirOwnCommits) {
  io::SimDisk disk;
  WalStoreOptions options = SmallOptions();
  options.threads = true;
  StoreProcess master(disk, options);
  ASSERT_TRUE(master.Claim().ok());
  constexpr std::uint64_t kThreads = 12;
  constexpr std::uint64_t kEach = 200;
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::uint64_t last = 0;
      for (std::uint64_t version = 1; version <= kEach; ++version) {
        const auto sequence = master.store->CommitAndWait(Put(t + 1, version, "x"));
        ASSERT_TRUE(sequence.ok()) << sequence.error().ToString();
        EXPECT_GT(*sequence, last);
        last = *sequence;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(master.store->CommitAndWait(Put(1, 7, "x")).error().code(), Code::kStale) << "an outcome of its own";
  EXPECT_EQ(master.store->metrics().records, kThreads * kEach);
}

// The steps that a failover has interrupted do not wait for the disk that fills a spare segment.
TEST(WalStoreTest, SparesAreFilledAfterTheFirstSecondOfAnOwner) {
  io::SimDisk disk;
  WalStoreOptions options = SmallOptions();
  options.threads = true;
  options.spares = 1;
  StoreProcess master(disk, options);
  const SystemClock clock;
  std::promise<TimePoint> filling;
  std::atomic<bool> seen{false};
  master.process->SetHook([&](const io::SimEvent& event) {
    const bool spare = event.op == io::SimOp::kCreate && event.path.find("/filling.") != std::string::npos;
    if (spare && !seen.exchange(true)) filling.set_value(clock.Now());
    return io::SimVerdict::Proceed();
  });
  const TimePoint begun = clock.Now();
  ASSERT_TRUE(master.Claim().ok());
  EXPECT_TRUE(master.store->CommitAndWait(Put(1, 1, "x")).ok());
  auto filled = filling.get_future();
  ASSERT_EQ(filled.wait_for(Millis{60'000}), std::future_status::ready);
  EXPECT_GE(filled.get() - begun, Millis{1'000});
  master.store->Stop();
}

TEST(WalStoreTest, AThreadThatWaitsLearnsThatTheStoreWasStopped) {
  io::SimDisk disk;
  WalStoreOptions options = SmallOptions();
  options.threads = true;
  StoreProcess master(disk, options);
  ASSERT_TRUE(master.Claim().ok());
  master.store->Stop();
  EXPECT_EQ(master.store->CommitAndWait(Put(1, 1, "x")).error().code(), Code::kAborted);
}

TEST(WalStoreTest, AStoreInMemoryLetsThreadsWaitToo) {
  MemoryStore store;
  ASSERT_TRUE(store.Claim().ok());
  EXPECT_TRUE(store.CommitAndWait(Put(1, 1, "x")).ok());
  EXPECT_EQ(store.CommitAndWait(Put(1, 1, "x")).error().code(), Code::kStale);
}

// S101 (cached names need a proof): an owner whose storage client was cut off and evicted, then deposed. It has looked
// for the next claim before, so its cache has a negative answer. Returns true if it believes that.
bool BelievesInItsOldLook() {
  io::SimDisk disk;
  const auto process = disk.NewProcess();
  io::SimClient client(*process);
  ManualTime time;
  WalStore store(client.OpenOrMake("/procedures").value(), client.OpenOrMake("/quarantine").value(), time,
                 SmallOptions());
  EXPECT_TRUE(store.Claim().ok());
  EXPECT_TRUE(store.Check().ok());
  client.Evict();
  StoreProcess next(disk);
  EXPECT_TRUE(next.Claim().ok());
  return store.Check().ok();
}

TEST(WalStoreTest, AnOwnerThatWasEvictedBelievesNoOldLook) {
  EXPECT_FALSE(BelievesInItsOldLook());
  const ScopedMutant mutant("storage.no_proof");
  EXPECT_TRUE(BelievesInItsOldLook()) << "the check above would not notice";
}

}  // namespace
}  // namespace ratchet::procedure
