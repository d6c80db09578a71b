// The small parts: names, frames, the pid table, the store in memory.
#include <atomic>
#include <barrier>
#include <map>
#include <thread>

#include <gtest/gtest.h>

#include "common/base/prng.h"
#include "common/base/varint.h"
#include "procedure/store/format.h"
#include "procedure/store/pid_table.h"
#include "procedure/store/reader.h"
#include "tests/support/memory_store.h"
#include "tests/unit/store/store_harness.h"

namespace ratchet::procedure {
namespace {

TEST(SegmentNameTest, OnlyOurOwnFormIsParsed) {
  EXPECT_EQ(ParseNumberedName("segment", "segment.3.17"), (SegmentId{Epoch(3), 17}));
  for (const char* name :
       {"segment.3", "segment.3.", "segment.03.1", "segment.3.1.tmp", "segment.-3.1", "segments.3.1", "segment.3.0"}) {
    EXPECT_FALSE(ParseNumberedName("segment", name)) << name;
  }
  EXPECT_EQ(ParseClaimName("claim.12"), Epoch(12));
  EXPECT_FALSE(ParseClaimName("claim.12.tmp"));
  EXPECT_LT((SegmentId{Epoch(2), 9}), (SegmentId{Epoch(10), 1}));
}

TEST(FrameTest, EveryEntryIsReadBack) {
  std::string bytes;
  FrameBuilder frame(bytes, 1234567);
  frame.Batch(77);
  frame.Upsert(ProcId(300), 2, "body");
  frame.Delete(ProcId(4));
  frame.SystemPut("key", "value");
  frame.SystemDelete("gone");
  frame.LowWater({Epoch(2), 5});
  frame.Start({{Epoch(3), 1},
               ProcId(99),
               {Epoch(2), 5},
               {{{Epoch(2), 5}, 1000, 66, false}, {{Epoch(2), 6}, 50, 70, true}},
               "who"});
  FrameParser parser(bytes);
  EXPECT_EQ(parser.wall_millis(), 1234567);
  FrameEntry entry;
  ASSERT_TRUE(parser.Next(&entry));
  EXPECT_EQ(entry.sequence, 77U);
  ASSERT_TRUE(parser.Next(&entry));
  EXPECT_EQ(entry.pid, ProcId(300));
  EXPECT_EQ(entry.version, 2U);
  EXPECT_EQ(entry.bytes, "body");
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(parser.Next(&entry));
  EXPECT_EQ(entry.start.chain.size(), 2U);
  EXPECT_TRUE(entry.start.chain[1].copied);
  EXPECT_EQ(entry.start.owner, "who");
  EXPECT_FALSE(parser.Next(&entry));
  EXPECT_TRUE(parser.ok());
}

TEST(FrameTest, AnyBytesAreParsedWithoutHarm) {
  const std::uint64_t seed = RandomSeed();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  Prng prng(seed);
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes(prng.Below(60), '\0');
    for (char& c : bytes) c = static_cast<char>(prng.Chance(1, 2) ? prng.Below(12) : prng.Next());
    FrameParser parser(bytes);
    FrameEntry entry;
    int entries = 0;
    while (parser.Next(&entry)) ++entries;
    EXPECT_LE(entries, 60);
  }
}

TEST(VarintTest, TheWholeRangeAndNothingBeyond) {
  for (const std::uint64_t value :
       {std::uint64_t{0}, std::uint64_t{127}, std::uint64_t{128}, UINT64_MAX - 1, UINT64_MAX}) {
    std::string bytes;
    PutVarint(bytes, value);
    std::string_view in = bytes;
    std::uint64_t back = 0;
    ASSERT_TRUE(GetVarint(in, &back));
    EXPECT_EQ(back, value);
    EXPECT_TRUE(in.empty());
    in = std::string_view(bytes).substr(0, bytes.size() - 1);
    EXPECT_FALSE(GetVarint(in, &back));
  }
  std::string_view too_long = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02";
  std::uint64_t value = 0;
  EXPECT_FALSE(GetVarint(too_long, &value));
}

TEST(PidTableTest, AgreesWithAMap) {
  const std::uint64_t seed = RandomSeed();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  Prng prng(seed);
  PidTable table;
  std::map<std::uint64_t, std::uint64_t> model;
  for (int round = 0; round < 50'000; ++round) {
    const std::uint64_t pid = 1 + prng.Below(400);
    if (prng.Chance(2, 5)) {
      table.Erase(ProcId(pid));
      model.erase(pid);
    } else {
      table.Put(ProcId(pid)).version = ++model[pid];
    }
    const std::uint64_t asked = 1 + prng.Below(400);
    const PidTable::Entry* const found = table.Find(ProcId(asked));
    ASSERT_EQ(found != nullptr, model.contains(asked));
    ASSERT_EQ(found == nullptr ? 0 : found->version, found == nullptr ? 0 : model[asked]);
  }
  EXPECT_EQ(table.size(), model.size());
}

TEST(MemoryStoreTest, BehavesAsTheRealOne) {
  auto medium = std::make_shared<MemoryMedium>();
  MemoryStore first(medium);
  ASSERT_TRUE(first.Claim().ok());
  std::vector<std::string> outcomes;
  const auto note = [&](Result<std::uint64_t> done) {
    outcomes.push_back(done.ok() ? "ok" : std::string(CodeName(done.error().code())));
  };
  first.Commit(Put(1, 1, "a"), note);
  first.Commit(Put(1, 3, "gap"), note);
  first.Commit(Put(9, 1, "b"), note);
  first.Commit(Remove(9), note);
  EXPECT_EQ(outcomes, (std::vector<std::string>{"ok", "STALE", "ok", "ok"}));
  MemoryStore second(medium);
  const auto loaded = second.Claim();
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(loaded->epoch, Epoch(2));
  EXPECT_EQ(loaded->max_pid, ProcId(9));
  EXPECT_EQ(loaded->records.size(), 1U);
  EXPECT_FALSE(first.Check().ok());
  first.Commit(Put(1, 2, "zombie"), note);
  EXPECT_EQ(outcomes.back(), "FENCED");
}

TEST(MemoryStoreTest, CrashesAtACommitBeforeOrAfterItIsDurable) {
  for (const bool durable : {false, true}) {
    auto medium = std::make_shared<MemoryMedium>();
    MemoryStore store(medium);
    ASSERT_TRUE(store.Claim().ok());
    int completed = 0;
    store.CrashAtCommit(2, durable);
    for (std::uint64_t pid = 1; pid <= 3; ++pid)
      store.Commit(Put(pid, 1, "x"), [&](Result<std::uint64_t>) { ++completed; });
    EXPECT_EQ(completed, 1);
    EXPECT_TRUE(store.crashed());
    EXPECT_EQ(medium->record_count(), durable ? 2U : 1U);
  }
}

// No later commit follows that would complete the leftovers of a round.
TEST(MemoryStoreTest, CommitsOfTwoThreadsAreBothCompleted) {
  constexpr int kRounds = 5'000;
  MemoryStore store;
  ASSERT_TRUE(store.Claim().ok());
  std::atomic<int> done{0};
  std::atomic<int> left{0};
  const auto commit = [&store, &done] { store.Commit({}, [&done](const Result<std::uint64_t>&) { ++done; }); };
  std::barrier both(2, [&store, &left]() noexcept { left += static_cast<int>(store.waiting()); });
  const auto run = [&] {
    for (int i = 0; i < kRounds; ++i) {
      commit();
      both.arrive_and_wait();
    }
  };
  std::thread other(run);
  run();
  other.join();
  EXPECT_EQ(left, 0) << "handed to somebody who had just looked for the last time";
  EXPECT_EQ(done, 2 * kRounds);
}

// A record that is well-formed and has a good checksum, but is impossible: after it no pid, version or sequence could
// be assigned.
TEST(ReplayTest, NumbersThatNothingCanFollowAreDamage) {
  const auto refused = [](const FrameEntry& entry) {
    StoreContents contents;
    Replay replay(contents, RecordOrder::kStrict);
    Refused why;
    return !replay.Apply(entry, 0, true, &why) && !why.reason.empty();
  };
  FrameEntry record;
  record.kind = EntryKind::kUpsert;
  record.pid = ProcId(1ULL << 61);
  record.version = 1;
  EXPECT_FALSE(refused(record));
  for (const std::uint64_t number : {std::uint64_t{INT64_MAX}, std::uint64_t{UINT64_MAX}}) {
    record.pid = ProcId(number);
    record.version = 1;
    EXPECT_TRUE(refused(record));
    record.pid = ProcId(1);
    record.version = number;
    EXPECT_TRUE(refused(record));
    FrameEntry gone;
    gone.kind = EntryKind::kDelete;
    gone.pid = ProcId(number);
    EXPECT_TRUE(refused(gone));
    FrameEntry start;
    start.kind = EntryKind::kStart;
    start.start.max_pid = ProcId(number);
    EXPECT_TRUE(refused(start));
    FrameEntry batch;
    batch.kind = EntryKind::kBatch;
    batch.sequence = number;
    EXPECT_TRUE(refused(batch));
  }
}

TEST(MemoryStoreTest, ContinuationsThatCommitAreCompletedInOrder) {
  MemoryStore store;
  ASSERT_TRUE(store.Claim().ok());
  std::string order;
  store.Commit(Put(1, 1, "x"), [&](Result<std::uint64_t>) {
    order += "1";
    store.Commit(Put(3, 1, "x"), [&](Result<std::uint64_t>) { order += "3"; });
    order += "(";
  });
  EXPECT_EQ(order, "1(3");
  store.SetManual(true);
  store.Commit(Put(4, 1, "x"), [&](Result<std::uint64_t>) { order += "4"; });
  EXPECT_EQ(order, "1(3");
  EXPECT_TRUE(store.Pump());
  EXPECT_FALSE(store.Pump());
  EXPECT_EQ(order, "1(34");
}

}  // namespace
}  // namespace ratchet::procedure
