// Damage: named, copied into quarantine, refused. Torn tails: cut. No record is dropped silently.
#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "common/base/prng.h"
#include "tests/unit/store/store_harness.h"

namespace ratchet::procedure {
namespace {

using io::SimDisk;

// Three segments; the last one is open. Returns what must be found.
StoreState Fill(SimDisk& disk) {
  StoreState state;
  StoreProcess master(disk);
  EXPECT_TRUE(master.Claim().ok());
  for (std::uint64_t pid = 1; pid <= 34; ++pid) {
    StoreBatch batch = Put(pid, 1, std::string(100, static_cast<char>('a' + pid % 26)));
    state.Apply(batch);
    EXPECT_TRUE(master.CommitNow(std::move(batch))->ok());
  }
  EXPECT_EQ(master.store->metrics().segments, 3U);
  master.process->Crash();
  return state;
}

std::string PathOf(int number) { return "/procedures/segment.1." + std::to_string(number); }

// The bytes that records take in a segment, preallocated zeros not counted.
std::size_t Used(SimDisk& disk, int number) {
  const std::string bytes = disk.Content(PathOf(number)).value();
  return bytes.find_last_not_of('\0') + 1;
}

// One flipped bit: the start is refused, with the place, a copy, and what to do.
void ExpectRefused(SimDisk& disk, const std::string& path, std::size_t at) {
  SCOPED_TRACE(path + " byte " + std::to_string(at));
  const std::string name = path.substr(path.rfind('/') + 1);
  const std::string good = disk.Content(path).value();
  ASSERT_TRUE(disk.Overwrite(path, at, std::string(1, static_cast<char>(good[at] ^ (1 << at % 8)))).ok());
  const std::string damaged = disk.Content(path).value();
  StoreProcess next(disk);
  const auto loaded = next.Claim();
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().code(), Code::kCorruption);
  const std::string& text = loaded.error().message();
  EXPECT_NE(text.find(name + " at offset "), std::string::npos) << text;
  EXPECT_NE(text.find("ratchet-wal"), std::string::npos) << "says what to do";
  EXPECT_FALSE(next.store->Check().ok()) << "an owner that loaded nothing may not act";
  EXPECT_EQ(disk.Content(path).value(), damaged) << "left as it was";
  const std::size_t copy = text.find("(copy in ");
  ASSERT_NE(copy, std::string::npos) << text;
  EXPECT_EQ(disk.Content(text.substr(copy + 9, text.find(')', copy) - copy - 9)).value(), damaged);
  ASSERT_TRUE(disk.Overwrite(path, at, std::string(1, good[at])).ok());
}

TEST(StoreDamageTest, AFlippedBitAnywhereBeforeTheLastFrameIsNamedQuarantinedAndRefused) {
  for (int number = 1; number <= 3; ++number) {
    auto disk = std::make_unique<SimDisk>();
    Fill(*disk);
    // In the open segment the last frame may be torn; in a closed one the summary at its end is only a cross-check.
    const std::size_t end = Used(*disk, number) - 160;
    for (std::size_t at = 0; at < end; ++at) {
      if (at % 100 == 99) {  // claims and copies pile up
        disk = std::make_unique<SimDisk>();
        Fill(*disk);
      }
      ExpectRefused(*disk, PathOf(number), at);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(StoreDamageTest, TheOpenSegmentTornAtEveryByteLosesOnlyWhatWasNotWhole) {
  SimDisk probe;
  const StoreState full = Fill(probe);
  const std::size_t used = Used(probe, 3);
  for (std::size_t length = 0; length <= used; ++length) {
    SimDisk disk;
    Fill(disk);
    ASSERT_TRUE(disk.Truncate(PathOf(3), length).ok());
    StoreProcess next(disk);
    const auto loaded = next.Claim();
    ASSERT_TRUE(loaded.ok()) << "torn at " << length << ": " << loaded.error().ToString();
    const StoreState found = StateOf(*loaded);
    EXPECT_LE(found.records.size(), full.records.size());
    for (const auto& [pid, text] : found.records) EXPECT_EQ(text, full.records.at(pid));
    for (std::uint64_t pid = 1; pid <= found.records.size(); ++pid)
      EXPECT_TRUE(found.records.contains(pid)) << "a prefix";
  }
}

// S81 (whole bad record is damage): the last acknowledged record, too, once its frame was whole.
TEST(StoreDamageTest, AFlippedBitInTheLastFrameIsRefused) {
  SimDisk disk;
  Fill(disk);
  const std::size_t used = Used(disk, 3);
  for (std::size_t at = used - 60; at < used; ++at) ExpectRefused(disk, PathOf(3), at);
}

TEST(StoreDamageTest, TakingTheLastFrameForTornIsNoticed) {
  const ScopedMutant mutant("log.any_tail");
  SimDisk disk;
  const StoreState full = Fill(disk);
  ASSERT_TRUE(disk.Overwrite(PathOf(3), Used(disk, 3) - 30, "!").ok());
  StoreProcess next(disk);
  const auto loaded = next.Claim();
  ASSERT_TRUE(loaded.ok());
  EXPECT_LT(StateOf(*loaded).records.size(), full.records.size()) << "an acknowledged record is gone";
}

TEST(StoreDamageTest, AMissingSegmentIsAHole) {
  for (const int number : {1, 2}) {
    SimDisk disk;
    Fill(disk);
    auto process = disk.NewProcess();
    ASSERT_TRUE(process->Open("/procedures").value()->Unlink("segment.1." + std::to_string(number)).ok());
    StoreProcess next(disk);
    const auto loaded = next.Claim();
    ASSERT_FALSE(loaded.ok());
    EXPECT_NE(
        loaded.error().message().find("segment.1." + std::to_string(number) + " at offset 0: the segment is missing"),
        std::string::npos)
        << loaded.error().message();
  }
}

TEST(StoreDamageTest, TheSummaryOfAClosedSegmentMayBeMissingOrDamaged) {
  SimDisk disk;
  const StoreState full = Fill(disk);
  const std::size_t used = Used(disk, 1);
  for (std::size_t at = used - 40; at < used; ++at) ASSERT_TRUE(disk.Overwrite(PathOf(1), at, "?").ok());
  StoreProcess next(disk);
  const auto loaded = next.Claim();
  ASSERT_TRUE(loaded.ok()) << loaded.error().ToString();
  EXPECT_EQ(StateOf(*loaded), full);
}

TEST(StoreDamageTest, ARefusedStartCanBeRepeatedAndKeepsOneCopy) {
  SimDisk disk;
  Fill(disk);
  ASSERT_TRUE(disk.Overwrite(PathOf(2), 100, "damage").ok());
  std::string before;
  for (const int number : {1, 2, 3}) before += disk.Content(PathOf(number)).value();
  for (int start = 0; start < 3; ++start) {
    StoreProcess next(disk);
    EXPECT_FALSE(next.Claim().ok());
    next.StepAll();
  }
  std::string after;
  for (const int number : {1, 2, 3}) after += disk.Content(PathOf(number)).value();
  EXPECT_EQ(before, after) << "a load that fails changes and deletes nothing";
  auto process = disk.NewProcess();
  EXPECT_EQ(process->Open("/quarantine").value()->List().value(), std::vector<std::string>{"segment.1.2"});
}

// Whatever happens to the bytes, the claim returns, and each loaded record was once stored in this form.
TEST(StoreDamageTest, FuzzedStoresNeverLoadAWrongRecord) {
  const std::uint64_t seed = RandomSeed();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  Prng prng(seed);
  for (int round = 0; round < 150; ++round) {
    SimDisk disk;
    const StoreState full = Fill(disk);
    for (std::uint64_t edits = 1 + prng.Below(3); edits > 0; --edits) {
      const std::string path = PathOf(1 + static_cast<int>(prng.Below(3)));
      const std::string bytes = disk.Content(path).value();
      if (bytes.empty()) continue;  // an earlier edit has cut it
      const std::uint64_t at = prng.Below(bytes.size());
      const std::uint64_t length = std::min<std::uint64_t>(1 + prng.Below(300), bytes.size() - at);
      switch (prng.Below(3)) {
        case 0: ASSERT_TRUE(disk.Overwrite(path, at, std::string(length, static_cast<char>(prng.Next()))).ok()); break;
        case 1: ASSERT_TRUE(disk.Truncate(path, at).ok()); break;
        default:
          ASSERT_TRUE(disk.Overwrite(path, at, bytes.substr(prng.Below(bytes.size() - length + 1), length)).ok());
          break;
      }
    }
    StoreProcess next(disk);
    const auto loaded = next.Claim();
    if (!loaded.ok()) {
      EXPECT_EQ(loaded.error().code(), Code::kCorruption) << loaded.error().ToString();
      continue;
    }
    for (const auto& [pid, text] : StateOf(*loaded).records) EXPECT_EQ(text, full.records.at(pid));
  }
}

}  // namespace
}  // namespace ratchet::procedure
