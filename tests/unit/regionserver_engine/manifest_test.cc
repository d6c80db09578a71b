// The manifest by itself: its size, and its content after it was rewritten (S62: bounded manifest).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "common/base/fault_point.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/io/fatal.h"
#include "regionserver/region/nonce_table.h"
#include "regionserver/store/manifest.h"
#include "tests/unit/regionserver_engine/engine_world.h"

namespace ratchet::regionserver {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

constexpr const char* kRegionName = "abc";
constexpr std::uint64_t kSlackBytes = 1000;

class ManifestTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ConfigureLog({LogLevel::kError, {}});
    process = disk.NewProcess("a");
    directory = process->OpenOrMake("/data/abc").value();
    manifest = Manifest::Create(*directory, kRegionName, 7).value();
  }
  void TearDown() override {
    FaultPoints::Instance().DisarmAll();
    ConfigureLog({});
  }
  // A flush of one file and `nonces` uses, at `now_ms`; uses older than 1,000 ms are forgotten.
  void AppendFlush(std::uint64_t number, std::size_t nonces, std::int64_t now_ms) {
    ManifestEdit edit;
    edit.flushed_sequence = number;
    edit.added.push_back({std::to_string(number) + "-1.sst", 10, 1, number, "a", "b", {}});
    if (number > 1) edit.removed.push_back(std::to_string(number - 1) + "-1.sst");
    for (std::size_t i = 0; i < nonces; ++i) edit.nonces.push_back({1, number * 1000 + i, now_ms});
    edit.nonces_since_ms = now_ms - 1000;
    manifest->Append(edit).value();
  }
  void ExpectSameStateOnTheDisk() {
    const ManifestState read = ReadManifest(*directory, kRegionName, 7).value();
    EXPECT_EQ(read.flushed_sequence, manifest->state().flushed_sequence);
    EXPECT_EQ(read.files, manifest->state().files);
    EXPECT_EQ(read.nonces, manifest->state().nonces);
    EXPECT_EQ(read.nonces_since_ms, manifest->state().nonces_since_ms);
  }

  void RewriteThenRemoveTheOnlyFile() {
    AppendFlush(1, 300, 500);
    EXPECT_TRUE(manifest->RewriteIfLarge(kSlackBytes).value());
    ManifestEdit edit;
    edit.removed = {"1-1.sst"};
    manifest->Append(edit).value();
  }
  std::size_t FilesAfterAPowerFailure() {
    disk.PowerFailure();
    const auto survivor = disk.NewProcess("b");
    return ReadManifest(*survivor->Open("/data/abc").value(), kRegionName, 7).value().files.size();
  }

  io::SimDisk disk;
  std::unique_ptr<io::SimDisk::Process> process;
  std::unique_ptr<io::Directory> directory;
  std::unique_ptr<Manifest> manifest;
};

TEST_F(ManifestTest, ItsSizeFollowsTheStateNotTheNumberOfChanges) {
  std::uint64_t largest = 0;
  int rewritten = 0;
  for (std::uint64_t i = 1; i <= 500; ++i) {
    AppendFlush(i, 20, static_cast<std::int64_t>(i) * 500);
    rewritten += manifest->RewriteIfLarge(kSlackBytes).value() ? 1 : 0;
    largest = std::max(largest, manifest->bytes());
  }
  EXPECT_GT(rewritten, 10);
  EXPECT_LT(largest, 8 * kSlackBytes);  // ten thousand nonces need 100 KB and more
  EXPECT_LE(directory->ReadAll("manifest.7").value().size(), manifest->bytes() + 8192);  // including the space prepared
                                                                                         // ahead
  EXPECT_THAT(directory->List().value(), Not(Contains("tmp.manifest.7")));
  ExpectSameStateOnTheDisk();
  disk.PowerFailure();
  process = disk.NewProcess("b");
  directory = process->Open("/data/abc").value();
  ExpectSameStateOnTheDisk();
}

TEST_F(ManifestTest, WhatIsKnownOfAFileIsReadAsItWasWritten) {
  ManifestEdit edit;
  edit.flushed_sequence = 1;
  edit.added.push_back({"1-1.sst", 10, 1, 1, "a", "b", {}});
  manifest->Append(edit).value();
  edit.added[0].name = "1-2.sst";
  edit.added[0].dead = {"old"};
  manifest->Append(edit).value();
  edit.added[0].name = "1-3.sst";
  edit.added[0].low = "a";
  manifest->Append(edit).value();
  edit.added[0].name = "1-4.sst";
  edit.added[0].major_ms = 1'700'000'000'000;
  manifest->Append(edit).value();
  edit.added = {{"1-5.sst", 10, 1, 1, "a", "b", {}}};
  edit.added[0].major_ms = 5;
  manifest->Append(edit).value();
  EXPECT_EQ(manifest->state().files.size(), 5U);
  ExpectSameStateOnTheDisk();
}

TEST_F(ManifestTest, WithoutRewritingItGrowsForEver) {
  const ScopedMutant mutant("manifest.grows_for_ever");
  for (std::uint64_t i = 1; i <= 500; ++i) {
    AppendFlush(i, 20, static_cast<std::int64_t>(i) * 500);
    EXPECT_FALSE(manifest->RewriteIfLarge(kSlackBytes).value());
  }
  EXPECT_GT(manifest->bytes(), 80 * kSlackBytes);
}

TEST_F(ManifestTest, ARewritingThatFailedChangesNothingAndIsTriedAgain) {
  AppendFlush(1, 300, 500);
  FaultPoints::Instance().ArmFromText("manifest.before_rename=fail").value();
  EXPECT_FALSE(manifest->RewriteIfLarge(kSlackBytes).ok());
  FaultPoints::Instance().DisarmAll();
  AppendFlush(2, 1, 600);
  ExpectSameStateOnTheDisk();
  EXPECT_TRUE(manifest->RewriteIfLarge(kSlackBytes).value());
  AppendFlush(3, 1, 700);
  ExpectSameStateOnTheDisk();
}

// Returns the live files after a power failure: after a rewriting a compaction has removed the only file without making
// another, so no directory was synced.
TEST_F(ManifestTest, WhatFollowsARewritingSurvivesAPowerFailure) {
  RewriteThenRemoveTheOnlyFile();
  EXPECT_EQ(FilesAfterAPowerFailure(), 0U);
}

TEST_F(ManifestTest, WithoutADurableNameItIsLost) {
  const ScopedMutant mutant("manifest.no_rename_sync");
  RewriteThenRemoveTheOnlyFile();
  EXPECT_EQ(FilesAfterAPowerFailure(), 1U);
}

TEST_F(ManifestTest, TheNextOpeningTakesOverWhatWasRewritten) {
  AppendFlush(1, 300, 500);
  ASSERT_TRUE(manifest->RewriteIfLarge(kSlackBytes).value());
  AppendFlush(2, 1, 600);
  const auto next = Manifest::Create(*directory, kRegionName, 8).value();
  EXPECT_EQ(next->state().files, manifest->state().files);
  EXPECT_EQ(next->state().nonces, manifest->state().nonces);
}

TEST_F(ManifestTest, RecoveredEditsThatAreGoneAreForgotten) {
  for (const char* name : {"edits.a,1,1.log.1", "unneeded.edits.a,1,1.log.2"})
    ASSERT_TRUE(directory->Create(name).ok());
  ManifestEdit edit;
  edit.consumed_edits = {"edits.a,1,1.log.1", "edits.a,1,1.log.2", "edits.a,1,1.log.3"};
  manifest->Append(edit).value();
  const auto next = Manifest::Create(*directory, kRegionName, 8).value();
  EXPECT_THAT(next->state().consumed_edits, ElementsAre("edits.a,1,1.log.1", "edits.a,1,1.log.2"));
}

// --- S53 (opening starts with full state): the first record and the zeros after it in one sync ---

class FirstSyncTest : public ManifestTest {
 protected:
  void SetUp() override {
    ManifestTest::SetUp();
    io::SetFatalHandler([](const std::string&) {});
  }
  void TearDown() override {
    io::SetFatalHandler({});
    ManifestTest::TearDown();
  }
  void PowerFails(io::SimDisk::Loss loss = io::SimDisk::Loss::kEverything, std::uint64_t seed = 0) {
    disk.PowerFailure(loss, seed);
    process = disk.NewProcess("b");
    directory = process->Open("/data/abc").value();
  }
  // Opening 8 writes `edit`, then the power fails, and its manifest is cut after its first record.
  Result<ManifestState> ReadAfterACut(const ManifestEdit& edit) {
    AppendFlush(1, 1, 500);
    manifest = Manifest::Create(*directory, kRegionName, 8).value();
    const std::uint64_t end = manifest->bytes();
    manifest->Append(edit).value();
    PowerFails();
    disk.Truncate("/data/abc/manifest.8", end).value();
    return ReadManifest(*directory, kRegionName, 8);
  }
  Result<ManifestState> ReadAfterACutOfACompaction() {
    ManifestEdit edit;
    edit.removed = {"1-1.sst"};  // it names no new file, so only the mark of the opening needs the directory
    return ReadAfterACut(edit);
  }
};

// The key has the length with which the first record ends right before the end of a sector. So its zeros are in other
// sectors, which the power failure may lose.
TEST_F(FirstSyncTest, APowerFailureInTheFirstSyncKeepsTheEarlierState) {
  AppendFlush(1, 1, 500);
  std::uint64_t number = 7;
  std::size_t key_bytes = 100;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    ManifestEdit edit;
    edit.removed = {manifest->state().files[0].name};
    edit.added.push_back({fmt::format("{}-1.sst", number), 10, 1, 1, "a", std::string(key_bytes, 'b'), {}});
    manifest->Append(edit).value();
    const std::vector<StoreFileInfo> files = manifest->state().files;
    process->SetHook([](const io::SimEvent& event) {
      const bool written = event.op == io::SimOp::kAppend;
      return written ? io::SimVerdict::CrashAfter() : io::SimVerdict::Proceed();
    });
    ASSERT_FALSE(Manifest::Create(*directory, kRegionName, ++number).ok());
    PowerFails(io::SimDisk::Loss::kRandom, seed);
    auto next = Manifest::Create(*directory, kRegionName, ++number);
    ASSERT_TRUE(next.ok()) << next.error().ToString();
    manifest = std::move(next).value();
    ASSERT_EQ(manifest->state().files, files);
    constexpr std::size_t kSector = 512;
    key_bytes += (kSector - 8 - manifest->bytes() % kSector) % kSector;
  }
}

TEST_F(FirstSyncTest, AFirstRecordCountsWithoutAllOfItsZeros) {
  AppendFlush(1, 1, 500);
  const std::uint64_t end = Manifest::Create(*directory, kRegionName, 8).value()->bytes();
  for (std::uint64_t size = end + 40; size >= end; --size) {
    disk.Truncate("/data/abc/manifest.8", size).value();
    const auto read = ReadManifest(*directory, kRegionName, 8);
    ASSERT_TRUE(read.ok()) << read.error().ToString();
    EXPECT_EQ(read->files, manifest->state().files) << size;
  }
  disk.Truncate("/data/abc/manifest.8", end - 1).value();
  EXPECT_EQ(ReadManifest(*directory, kRegionName, 8).error().code(), Code::kNotFound);
}

TEST_F(FirstSyncTest, ACutAfterTheFirstRecordIsNoticed) {
  EXPECT_EQ(ReadAfterACutOfACompaction().error().code(), Code::kCorruption);
}

TEST_F(FirstSyncTest, WithoutADurableMarkACutIsNotNoticed) {
  const ScopedMutant mutant("manifest.unsynced_opened");
  EXPECT_EQ(ReadAfterACutOfACompaction().value().files.size(), 1U);  // the file that the compaction has removed
}

// The close of an untouched region saves the sync of the mark, because the record CLOSED alone loses no data.
TEST_F(FirstSyncTest, WithoutItsRecordClosedARegionCountsAsNotClosed) {
  ManifestEdit edit;
  edit.closed = true;
  const ManifestState state = ReadAfterACut(edit).value();
  EXPECT_FALSE(state.closed);
  EXPECT_EQ(state.files.size(), 1U);
}

TEST(NonceTableTest, WhatWasForgottenIsNotSaved) {
  NonceTable table(3);
  for (std::uint64_t i = 1; i <= 100; ++i) table.Add({{1, i, static_cast<std::int64_t>(i)}});
  EXPECT_EQ(table.DrainUnsaved().size(), 3U);
}

TEST(ManifestRegionTest, ManyIncrementsLeaveASmallManifest) {
  ConfigureLog({LogLevel::kError, {}});
  EngineWorld world;
  world.settings.manifest_slack_bytes = 2000;
  world.settings.nonce_memory = Millis(50);
  world.Format().value();
  auto server = world.Start("a,1,1").value();
  world.OpenRegion(*server, 1).value();
  for (std::uint64_t i = 1; i <= 600; ++i) {
    world.time.Advance(Millis(1));
    ASSERT_TRUE(world.Mutate(*server->region, Increment("r", "n", 1, Nonce{1, i, {}})).value().ok());
    if (i % 20 == 0) server->region->Flush().value();
    if (i % 200 == 0) server->region->Compact(true).value();
  }
  const auto directory = server->process->Open("/data/" + world.info.encoded_name()).value();
  EXPECT_LT(directory->ReadAll("manifest.1").value().size(), 12'000U);
  server->region->Close().value();
  world.OpenRegion(*server, 2).value();
  EXPECT_EQ(world.Read(*server->region, "r", "n").value(), EncodeInt64(600));
  ConfigureLog({});
}

}  // namespace
}  // namespace ratchet::regionserver
