// The splitter on logs that should not exist: sequences that fall, impossible values, damage, more regions than memory
// or descriptors. No acknowledged write is lost as long as its bytes can be read (S56: falling sequences are replayed;
// S57: damaged log is split as far as readable).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include <fmt/format.h>

#include "common/base/crc32c.h"
#include "common/base/fault_point.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/io/light_directory.h"
#include "common/io/record_log.h"
#include "regionserver/store/manifest.h"
#include "regionserver/wal/log_survey.h"
#include "tests/unit/regionserver_engine/engine_world.h"

namespace ratchet::regionserver {
namespace {

using ::testing::HasSubstr;

constexpr const char* kDead = "a,1,1";
constexpr const char* kLogFile = "log.0000000001";

LogEntry EntryOf(const std::string& region, std::uint64_t sequence, const std::string& row, const std::string& value,
                 std::int64_t timestamp = 1'000) {
  LogEntry entry;
  entry.region = region;
  entry.sequence = sequence;
  entry.cells.push_back({Cell{row, "f", "q", timestamp, CellType::kPut, value}, {}});
  return entry;
}

std::string Encoded(const LogEntry& entry) {
  std::string payload;
  EncodeLogEntry(entry, payload);
  return payload;
}

class SplitTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ConfigureLog({LogLevel::kError, {}});
    world.Format().value();
    process = world.disk.NewProcess("splitter");
    region = world.info.encoded_name();
  }
  void TearDown() override {
    FaultPoints::Instance().DisarmAll();
    ConfigureLog({});
  }
  std::string Folder() const { return std::string("/wals/") + kDead + "-splitting"; }
  // Writes the dead server's log, as it would be on the disk, and seals it.
  EngineWorld::Seal WriteLog(const std::vector<std::string>& payloads, std::uint8_t type = kEntryRecordType) {
    auto directory = process->OpenOrMake(Folder()).value();
    io::RecordWriter writer(directory->Create(kLogFile).value(),
                            {kServerLogKind, io::LogFileId(fmt::format("{}/{}", kDead, kLogFile))});
    std::uint64_t sequence = 0;
    for (const std::string& payload : payloads) writer.Add(type, kEntryVersion, ++sequence, payload).value();
    writer.Sync().value();
    const std::string bytes = world.disk.Content(Folder() + "/" + kLogFile).value();
    return {kLogFile, bytes.size(), Crc32c(bytes), sequence};
  }
  Result<SplitReport> Split(const EngineWorld::Seal& seal) { return world.Split(*process, kDead, seal, ++attempts); }
  std::string EditsPath() const { return "/data/" + region + "/edits." + kDead + "." + kLogFile; }
  void FlipByte(std::uint64_t offset) {
    const std::string path = Folder() + "/" + kLogFile;
    const char flipped = static_cast<char>(world.disk.Content(path).value()[offset] ^ 0x10);
    world.disk.Overwrite(path, offset, {&flipped, 1}).value();
  }
  std::size_t Temporaries() {
    std::size_t count = 0;
    for (const std::string& name : world.RegionFiles()) count += name.starts_with("tmp.") ? 1 : 0;
    const std::vector<std::string> names = process->Open(Folder()).value()->List().value();
    for (const std::string& name : names) count += name.starts_with("tmp.") ? 1 : 0;
    return count;
  }
  std::map<std::string, std::string> RowsAfter(std::uint64_t open_number) {
    auto server = world.Start(fmt::format("b,1,{}", open_number)).value();
    world.OpenRegion(*server, open_number).value();
    std::map<std::string, std::string> rows;
    const std::vector<Cell> cells = world.ScanAll(*server->region).value();
    for (const Cell& cell : cells) rows[cell.row] = cell.value;
    return rows;
  }

  EngineWorld world;
  std::unique_ptr<io::SimDisk::Process> process;
  std::string region;
  std::uint64_t attempts = 0;
};

// Line 1 wrote 1 to 6. Then an opening that knew only the flushed data (1) began again at 2, and flushed 2 and 3.
class FallenSequences : public SplitTest {
 protected:
  std::map<std::string, std::string> RowsAfterRecovery() {
    std::vector<std::string> payloads;
    for (std::uint64_t sequence = 1; sequence <= 5; ++sequence)
      payloads.push_back(Encoded(EntryOf(region, sequence, fmt::format("a{}", sequence), "first line")));
    payloads.push_back(Encoded(EntryOf(region, 6, "both", "old")));
    for (std::uint64_t sequence = 2; sequence <= 3; ++sequence)
      payloads.push_back(Encoded(EntryOf(region, sequence, fmt::format("b{}", sequence), "flushed")));
    payloads.push_back(Encoded(EntryOf(region, 4, "both", "new")));  // the same version of the same cell, later
    payloads.push_back(Encoded(EntryOf(region, 5, "b5", "second line")));
    {
      auto directory = process->Open("/data/" + region).value();
      auto manifest = Manifest::Create(*directory, region, 1).value();
      ManifestEdit flushed;
      flushed.flushed_sequence = 3;
      manifest->Append(flushed).value();
    }
    const SplitReport report = Split(WriteLog(payloads)).value();
    EXPECT_EQ(report.entries, 10U);
    return RowsAfter(2);
  }
};

TEST_F(FallenSequences, LoseNoAcknowledgedWrite) {
  const auto rows = RowsAfterRecovery();
  for (const char* row : {"a2", "a3", "a4", "a5"}) EXPECT_EQ(rows.count(row), 1U) << row;
  EXPECT_EQ(rows.count("a1"),
            0U);  // below where the second line began: flushed before, in a store file of a real region
  EXPECT_EQ(rows.count("b2") + rows.count("b3"), 0U);  // flushed by the second line
  EXPECT_EQ(rows.at("both"), "new");
  EXPECT_EQ(rows.at("b5"), "second line");
}

TEST_F(FallenSequences, TrustingThemIsNoticed) {
  const ScopedMutant mutant("split.trust_fallen_sequences");
  const auto rows = RowsAfterRecovery();
  EXPECT_EQ(rows.count("a2") + rows.count("a3"), 0U);  // lost
  EXPECT_EQ(rows.at("both"), "old");                   // and an older write above a newer one
}

TEST_F(SplitTest, DamageStopsTheSplitAndWhatCanBeReadIsPublished) {
  std::vector<std::string> payloads;
  for (std::uint64_t sequence = 1; sequence <= 5; ++sequence)
    payloads.push_back(Encoded(EntryOf(region, sequence, fmt::format("r{}", sequence), "v")));
  const EngineWorld::Seal seal = WriteLog(payloads);
  const std::uint64_t middle = seal.length / 2;
  FlipByte(middle);
  for (int again = 0; again < 2; ++again) {
    const auto split = Split(seal);
    ASSERT_FALSE(split.ok());
    EXPECT_EQ(split.error().code(), Code::kCorruption);
    EXPECT_THAT(split.error().message(), HasSubstr(std::string(kDead) + "/" + kLogFile));
    EXPECT_THAT(split.error().message(), HasSubstr("at offset"));
    EXPECT_THAT(split.error().message(), HasSubstr("its 4 readable entries are in the recovered edits of 1 regions"));
  }
  EXPECT_EQ(Temporaries(), 0U);
  FlipByte(middle);  // an operator has restored a good copy
  EXPECT_EQ(Split(seal).value().entries, 5U);
  EXPECT_EQ(RowsAfter(1).size(), 5U);
}

TEST_F(SplitTest, AnEmptiedLogIsDamaged) {  // S96 (log chain)
  EngineWorld::Seal seal = WriteLog({Encoded(EntryOf(region, 1, "r", "v"))});
  seal.length = 0;
  const auto split = Split(seal);
  ASSERT_FALSE(split.ok());
  EXPECT_EQ(split.error().code(), Code::kCorruption);
  EXPECT_THAT(split.error().message(), HasSubstr("is empty or missing; records up to 1 were in it"));
  seal.last_sequence = 0;
  EXPECT_TRUE(Split(seal).ok());
}

TEST_F(SplitTest, WithoutTheDamagedPartTheRestIsThere) {
  std::vector<std::string> payloads;
  for (std::uint64_t sequence = 1; sequence <= 5; ++sequence)
    payloads.push_back(Encoded(EntryOf(region, sequence, fmt::format("r{}", sequence), "v")));
  const EngineWorld::Seal seal = WriteLog(payloads);
  FlipByte(seal.length / 2);
  ASSERT_FALSE(Split(seal).ok());
  EXPECT_EQ(RowsAfter(1).size(), 4U);  // an operator continued without it
}

TEST_F(SplitTest, ASplitOfADamagedLogReplacesNoBetterOne) {
  std::vector<std::string> payloads;
  for (std::uint64_t sequence = 1; sequence <= 5; ++sequence)
    payloads.push_back(Encoded(EntryOf(region, sequence, fmt::format("r{}", sequence), "v")));
  const EngineWorld::Seal seal = WriteLog(payloads);
  ASSERT_TRUE(Split(seal).ok());
  process->Open(Folder()).value()->Unlink(std::string("split.") + kLogFile).value();  // it died before it could write
                                                                                      // the mark
  const std::string edits = world.disk.Content(EditsPath()).value();
  FlipByte(seal.length / 2);
  ASSERT_FALSE(Split(seal).ok());
  EXPECT_EQ(world.disk.Content(EditsPath()).value(), edits);
}

TEST_F(SplitTest, NamesAndValuesThatCannotBeAreErrorsAndTheRestIsPublished) {
  LogEntry huge = EntryOf(region, 3, "huge", "v");
  huge.sequence = UINT64_MAX;
  const std::vector<std::string> impossible = {Encoded(EntryOf("", 3, "r", "v")),
                                               Encoded(EntryOf("..", 3, "r", "v")),
                                               Encoded(EntryOf("../elsewhere", 3, "r", "v")),
                                               Encoded(EntryOf("a/b", 3, "r", "v")),
                                               Encoded(EntryOf(std::string(300, 'x'), 3, "r", "v")),
                                               Encoded(EntryOf(std::string("a\0b", 3), 3, "r", "v")),
                                               Encoded(huge),
                                               "",
                                               std::string(9, '\xff')};
  for (const std::string& payload : impossible) {
    EngineWorld fresh;
    fresh.Format().value();
    auto own = fresh.disk.NewProcess("splitter");
    auto directory = own->OpenOrMake(Folder()).value();
    io::RecordWriter writer(directory->Create(kLogFile).value(),
                            {kServerLogKind, io::LogFileId(fmt::format("{}/{}", kDead, kLogFile))});
    std::uint64_t sequence = 0;
    for (const std::string& each :
         {Encoded(EntryOf(region, 1, "r1", "v")), payload, Encoded(EntryOf(region, 2, "r2", "v"))})
      writer.Add(kEntryRecordType, kEntryVersion, ++sequence, each).value();
    writer.Sync().value();
    const std::string bytes = fresh.disk.Content(Folder() + "/" + kLogFile).value();
    const auto split = fresh.Split(*own, kDead, {kLogFile, bytes.size(), Crc32c(bytes), sequence}, 1);
    ASSERT_FALSE(split.ok());
    EXPECT_EQ(split.error().code(), Code::kCorruption) << split.error().ToString();
    EXPECT_THAT(split.error().message(), HasSubstr("its 2 readable entries"));
    EXPECT_TRUE(fresh.disk.Content(EditsPath()).has_value());
  }
}

TEST_F(SplitTest, BelievingNamesIsNoticed) {
  const EngineWorld::Seal seal =
      WriteLog({Encoded(EntryOf(region, 1, "r1", "v")), Encoded(EntryOf("../elsewhere", 2, "r", "v"))});
  EXPECT_EQ(Split(seal).error().code(), Code::kCorruption);
  const ScopedMutant mutant("split.trust_names");
  EXPECT_EQ(Split(seal).value().dropped, 1U);  // as if that region had gone: no evidence of an error
}

// The splitter accepts it as it is, and only this region's opening fails.
TEST_F(SplitTest, AnEntryThatCannotBeReplayedStopsItsRegionOnly) {
  std::string cut = Encoded(EntryOf(region, 1, "r1", "v"));
  cut.resize(cut.size() - 1);
  LogEntry long_row = EntryOf(region, 1, std::string(40'000, 'r'), "v");
  for (const std::string& payload : {cut, Encoded(long_row)}) {
    EngineWorld fresh;
    fresh.Format().value();
    auto own = fresh.disk.NewProcess("splitter");
    auto edits = own->Open("/data/" + region).value();
    io::RecordWriter writer(edits->Create("edits.a,1,1.log.0000000001").value(),
                            {kRecoveredEditsKind, io::LogFileId(region + "/edits.a,1,1.log.0000000001")});
    writer.Add(kEntryRecordType, kEntryVersion, 1, payload).value();
    writer.Sync().value();
    auto server = fresh.Start("b,1,1").value();
    const Status opened = fresh.OpenRegion(*server, 1);
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().code(), Code::kCorruption);
  }
}

std::size_t LeftBySplitsThatFail(EngineWorld& world, io::SimDisk::Process& process, const EngineWorld::Seal& seal) {
  for (std::uint64_t attempt = 1; attempt <= 10; ++attempt) {
    FaultPoints::Instance().ArmFromText("split.before_publish=fail").value();
    EXPECT_FALSE(world.Split(process, kDead, seal, attempt).ok());
  }
  FaultPoints::Instance().DisarmAll();
  return world.RegionFiles().size();
}

TEST_F(SplitTest, SplitsThatFailLeaveNothingBehind) {
  const EngineWorld::Seal seal = WriteLog({Encoded(EntryOf(region, 1, "r", "v"))});
  EXPECT_EQ(LeftBySplitsThatFail(world, *process, seal), 0U);
}

TEST_F(SplitTest, KeepingUnfinishedFilesIsNoticed) {
  const ScopedMutant mutant("split.keep_temporary");
  const EngineWorld::Seal seal = WriteLog({Encoded(EntryOf(region, 1, "r", "v"))});
  EXPECT_EQ(LeftBySplitsThatFail(world, *process, seal), 10U);
}

// On real files, because descriptors are counted.
class SplitOfManyRegions : public ::testing::Test {
 protected:
  static constexpr int kRegions = 300;
  static constexpr int kEntriesEach = 3;

  void SetUp() override {
    ConfigureLog({LogLevel::kError, {}});
    root = std::filesystem::temp_directory_path() / fmt::format("ratchet_split_{}", ::getpid());
    std::filesystem::remove_all(root);
    logs = io::PosixDisk().OpenOrMake((root / "wals").string()).value();
    data = io::PosixDisk().OpenOrMake((root / "data").string()).value();
    io::RecordWriter writer(logs->Create(kLogFile).value(),
                            {kServerLogKind, io::LogFileId(fmt::format("{}/{}", kDead, kLogFile))});
    for (int i = 0; i < kRegions; ++i) data->MakeDir(Name(i)).value();
    for (int entry = 1; entry <= kEntriesEach; ++entry)
      for (int i = 0; i < kRegions; ++i)
        writer
            .Add(kEntryRecordType, kEntryVersion, ++sequence,
                 Encoded(EntryOf(Name(i), static_cast<std::uint64_t>(entry), "row",
                                 std::string(i == 0 ? 100'000 : 10, 'v'))))
            .value();
    writer.Sync().value();
  }
  void TearDown() override {
    FaultPoints::Instance().DisarmAll();
    std::filesystem::remove_all(root);
    ConfigureLog({});
  }
  static std::string Name(int i) { return fmt::format("{:032x}", i); }
  static std::size_t OpenDescriptors() {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
      count += entry.path().empty() ? 0 : 1;
    return count;
  }
  SplitReport Split(std::uint64_t memory_bytes, std::size_t* most_descriptors, const SharedSync* shared = nullptr) {
    const std::string bytes = logs->ReadAll(kLogFile).value();
    SplitRequest request;
    request.server = kDead;
    request.file = kLogFile;
    request.sealed_length = bytes.size();
    request.sealed_crc32c = Crc32c(bytes);
    request.sealed_last_sequence = sequence;
    request.attempt_token = memory_bytes;
    request.memory_bytes = memory_bytes;
    request.shared_sync = shared;
    request.open_region = [this](const std::string& name) { return io::OpenLightDirectory(*data, name); };
    FaultSpec count;
    count.action = FaultAction::kCall;
    count.times = UINT64_MAX;
    count.call = [most_descriptors](std::string_view) {
      *most_descriptors = std::max(*most_descriptors, OpenDescriptors());
    };
    FaultPoints::Instance().Arm("split.before_publish", count);
    const SplitReport report = SplitLog(*logs, request).value();
    FaultPoints::Instance().DisarmAll();
    logs->Unlink(std::string("split.") + kLogFile).value();
    return report;
  }
  std::string Edits(int i) {
    return data->OpenDir(Name(i)).value()->ReadAll(fmt::format("edits.{}.{}", kDead, kLogFile)).value();
  }

  std::filesystem::path root;
  std::unique_ptr<io::Directory> logs;
  std::unique_ptr<io::Directory> data;
  std::uint64_t sequence = 0;
};

TEST_F(SplitOfManyRegions, NeedsAFixedNumberOfDescriptorsAndBoundedMemory) {
  const std::size_t before = OpenDescriptors();
  std::size_t most = 0;
  EXPECT_EQ(Split(64U << 20, &most).regions, static_cast<std::uint64_t>(kRegions));
  EXPECT_LE(most, before + 6);  // the log, a region's directory, its file; and descriptors that the counting itself
                                // uses
  std::vector<std::string> whole;
  for (const int i : {0, 1, 150, kRegions - 1}) whole.push_back(Edits(i));
  // Region 0 alone is larger than this memory, and the others need several passes.
  most = 0;
  EXPECT_EQ(Split(10'000, &most).regions, static_cast<std::uint64_t>(kRegions));
  EXPECT_LE(most, before + 6);
  std::size_t at = 0;
  for (const int i : {0, 1, 150, kRegions - 1}) EXPECT_EQ(Edits(i), whole[at++]) << i;
}

// S142 (shared syncs of a split): files and directories that wait for the sync hold no descriptor.
TEST_F(SplitOfManyRegions, NeedsAFixedNumberOfDescriptorsForSharedSyncs) {
  class Syncs final : public SharedSync {
   public:
    [[nodiscard]] bool Covers(io::Directory&) const override { return true; }
    [[nodiscard]] Status Sync(const std::vector<Change>& changes) const override {
      for (const Change& change : changes)
        RATCHET_TRY(change.file.empty() ? change.directory->Sync() : change.directory->SyncFile(change.file));
      return Ok();
    }
  };
  const Syncs shared;
  const std::size_t before = OpenDescriptors();
  std::size_t most = 0;
  EXPECT_EQ(Split(64U << 20, &most).regions, static_cast<std::uint64_t>(kRegions));
  std::vector<std::string> alone;
  for (const int i : {0, 1, 150, kRegions - 1}) alone.push_back(Edits(i));
  most = 0;
  EXPECT_EQ(Split(64U << 20, &most, &shared).regions, static_cast<std::uint64_t>(kRegions));
  EXPECT_LE(most, before + 6);
  std::size_t at = 0;
  for (const int i : {0, 1, 150, kRegions - 1}) EXPECT_EQ(Edits(i), alone[at++]) << i;
}

TEST(RegionShareTest, TellsLinesApart) {
  RegionShare share;
  for (std::uint64_t sequence = 1; sequence <= 6; ++sequence) share.Add(100 * sequence, sequence, 10);
  EXPECT_FALSE(share.IsOfAnEarlierLine(100, 1));
  share.Add(700, 4, 10);
  share.Add(800, 5, 10);
  EXPECT_FALSE(share.IsOfAnEarlierLine(300, 3));
  EXPECT_TRUE(share.IsOfAnEarlierLine(400, 4));
  EXPECT_TRUE(share.IsOfAnEarlierLine(600, 6));
  EXPECT_FALSE(share.IsOfAnEarlierLine(700, 4));
  EXPECT_FALSE(share.IsOfAnEarlierLine(800, 5));
}

}  // namespace
}  // namespace ratchet::regionserver
