// S142 (shared syncs of a split): the files of many regions share two syncs, and a power failure anywhere leaves each
// region all of its edits.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "common/base/crc32c.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/io/record_log.h"
#include "regionserver/store/recovered_edits.h"
#include "regionserver/wal/log_splitter.h"
#include "tests/support/expect_killed.h"
#include "tests/support/sim_disk.h"

namespace ratchet::regionserver {
namespace {

constexpr const char* kDeadServer = "a,1,1";
constexpr const char* kDeadLog = "log.0000000001";
constexpr const char* kFolder = "/wals/a,1,1-splitting";
constexpr int kRegions = 6;
constexpr int kEntriesEach = 2;

std::string RegionName(int i) { return fmt::format("{:032x}", i); }

// Syncs each change by itself, as the disk double has no syncfs.
class CountedSync final : public SharedSync {
 public:
  explicit CountedSync(std::string elsewhere = {}) : elsewhere_(std::move(elsewhere)) {}
  [[nodiscard]] bool Covers(io::Directory& directory) const override {
    return elsewhere_.empty() || directory.path().find(elsewhere_) == std::string::npos;
  }
  [[nodiscard]] Status Sync(const std::vector<Change>& changes) const override {
    ++calls;
    changed += changes.size();
    for (const Change& change : changes)
      RATCHET_TRY(change.file.empty() ? change.directory->Sync() : change.directory->SyncFile(change.file));
    return Ok();
  }

  mutable std::size_t calls = 0;
  mutable std::size_t changed = 0;

 private:
  const std::string elsewhere_;  // part of the path of a region on another file system
};

// A dead server's log with entries of some regions.
class DeadServer {
 public:
  explicit DeadServer(int regions = kRegions) : regions_(regions) {
    const auto process = disk.NewProcess("server");
    for (int i = 0; i < regions_; ++i) {
      const auto directory = process->OpenOrMake("/data/" + RegionName(i)).value();
      directory->Sync().value();
    }
    const auto logs = process->OpenOrMake(kFolder).value();
    io::RecordWriter writer(logs->Create(kDeadLog).value(),
                            {kServerLogKind, io::LogFileId(fmt::format("{}/{}", kDeadServer, kDeadLog))});
    for (int k = 0; k < kEntriesEach; ++k) {
      for (int i = 0; i < regions_; ++i) {
        LogEntry entry;
        entry.region = RegionName(i);
        entry.sequence = static_cast<std::uint64_t>(k) + 1;
        entry.cells.push_back({Cell{"row", "f", "q", 1'000, CellType::kPut, fmt::format("{}", k)}, {}});
        std::string payload;
        EncodeLogEntry(entry, payload);
        writer.Add(kEntryRecordType, kEntryVersion, ++sequence_, payload).value();
      }
    }
    writer.Sync().value();
    logs->Sync().value();
  }

  Result<SplitReport> Split(io::Disk& splitter, const SharedSync& shared, std::uint64_t attempt) {
    RATCHET_ASSIGN(const auto logs, splitter.Open(kFolder));
    const std::string bytes = disk.Content(std::string(kFolder) + "/" + kDeadLog).value();
    SplitRequest request;
    request.server = kDeadServer;
    request.file = kDeadLog;
    request.sealed_length = bytes.size();
    request.sealed_crc32c = Crc32c(bytes);
    request.sealed_last_sequence = sequence_;
    request.attempt_token = attempt;
    request.shared_sync = &shared;
    request.open_region = [&splitter](const std::string& region) { return splitter.Open("/data/" + region); };
    return SplitLog(*logs, request);
  }

  // Returns what is wrong with the recovered edits; "" if each region has all of them.
  std::string Judge() {
    const auto process = disk.NewProcess("judge");
    for (int i = 0; i < regions_; ++i) {
      const auto directory = process->Open("/data/" + RegionName(i)).value();
      int entries = 0;
      const Status read = ReadEdits(*directory, RegionName(i), fmt::format("edits.{}.{}", kDeadServer, kDeadLog),
                                    [&entries](const LogEntry&, bool) { ++entries; });
      if (!read.ok()) return read.error().ToString();
      if (entries != kEntriesEach) return fmt::format("region {} has {} entries", i, entries);
      const std::vector<std::string> names = directory->List().value();
      for (const std::string& name : names)
        if (name.starts_with("tmp.") && !power_failed) return "a temporary file is left";
    }
    return {};
  }

  io::SimDisk disk;
  bool power_failed = false;

 private:
  const int regions_;
  std::uint64_t sequence_ = 0;
};

// The power fails at operation `number` of a split, and another one finishes the work. Returns what is wrong.
std::string PowerFailsAt(std::uint64_t number, bool after, io::SimDisk::Loss loss, std::uint64_t* operations) {
  DeadServer dead;
  CountedSync shared;
  const auto first = dead.disk.NewProcess("first splitter");
  if (number > 0) first->SetHook(io::CrashAtOp(number, after));
  const auto split = dead.Split(*first, shared, 1);
  if (number == 0 && !split.ok()) return split.error().ToString();
  *operations = first->operations();
  dead.disk.PowerFailure(loss, number);
  dead.power_failed = true;
  const auto second = dead.disk.NewProcess("second splitter");
  if (const auto again = dead.Split(*second, shared, 2); !again.ok()) return again.error().ToString();
  return dead.Judge();
}

std::string Sweep() {
  std::uint64_t operations = 0;
  std::uint64_t ignored = 0;
  for (const auto loss : {io::SimDisk::Loss::kEverything, io::SimDisk::Loss::kRandom}) {
    if (std::string wrong = PowerFailsAt(0, false, loss, &operations); !wrong.empty()) return wrong;
    for (std::uint64_t number = 1; number <= operations; ++number)
      for (const bool after : {false, true})
        if (const std::string wrong = PowerFailsAt(number, after, loss, &ignored); !wrong.empty())
          return fmt::format("power failure {} operation {}: {}", after ? "after" : "before", number, wrong);
  }
  EXPECT_GT(operations, 5U * kRegions);
  return {};
}

class SplitTogetherTest : public ::testing::Test {
 protected:
  void SetUp() override { ConfigureLog({LogLevel::kError, {}}); }
  void TearDown() override { ConfigureLog({}); }
};

TEST_F(SplitTogetherTest, AllRegionsOfALogShareTwoSyncs) {
  constexpr int kMany = 100;
  DeadServer dead(kMany);
  CountedSync shared;
  EXPECT_EQ(dead.Split(*dead.disk.NewProcess("splitter"), shared, 1).value().regions, kMany + 0U);
  EXPECT_EQ(shared.calls, 2U);
  EXPECT_EQ(shared.changed, 2U * kMany);
  EXPECT_EQ(dead.Judge(), "");
}

TEST_F(SplitTogetherTest, ARegionElsewhereIsSyncedByItself) {
  DeadServer dead;
  CountedSync shared(RegionName(2));
  EXPECT_TRUE(dead.Split(*dead.disk.NewProcess("splitter"), shared, 1).ok());
  EXPECT_EQ(shared.changed, 2U * (kRegions - 1));
  dead.disk.PowerFailure();
  EXPECT_EQ(dead.Judge(), "");
}

TEST_F(SplitTogetherTest, APowerFailureAnywhereLosesNoEdits) { EXPECT_EQ(Sweep(), ""); }

TEST_F(SplitTogetherTest, NamesBeforeTheBytesAreNoticed) {
  ExpectKilled("split.show_before_shared_sync", Sweep, "no splitter publishes a file without entries");
}

TEST_F(SplitTogetherTest, ADoneSplitWithoutDurableNamesIsNoticed) {
  ExpectKilled("split.no_second_shared_sync", Sweep, "does not exist");
}

}  // namespace
}  // namespace ratchet::regionserver
