// Any file of a region damaged at random, after a random life: the region stays closed, or answers with all its data;
// it gives nothing up, and with the file restored it opens normally (S53: opening starts with full state; S92: leftover
// store files are proven).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/base/prng.h"
#include "common/io/record_log.h"
#include "common/io/unneeded_files.h"
#include "regionserver/store/manifest.h"
#include "regionserver/store/ownership.h"
#include "regionserver/wal/log_splitter.h"
#include "tests/support/peak_memory.h"
#include "tests/unit/regionserver_engine/engine_world.h"

namespace ratchet::regionserver {
namespace {

// A region that lives through openings, each on another server, and its clients' knowledge.
class RegionLife {
 public:
  RegionLife() { world.Format().value(); }

  Status Serve() {
    ++open_number;
    RATCHET_ASSIGN(server, world.Start(Name()));
    return world.OpenRegion(*server, open_number);
  }
  void Write(const std::string& row, const std::string& value) {
    world.time.Advance(Millis(1));
    const auto written = world.Mutate(*server->region, value.empty() ? DeleteRow(row) : Put(row, "q", value));
    ASSERT_TRUE(written && written->ok());
    rows[row] = value;
  }
  // The opening was closed, or its server died and its log was split. Unneeded files are removed.
  void End(bool close) {
    if (close) server->region->Close().value();
    server.reset();
    if (close) {
      ASSERT_TRUE(world.Clean(Name()).ok());
    } else {
      world.Recover(Name()).value();
    }
  }
  void LiveAtRandom(Prng& prng) {
    const std::uint64_t openings = 1 + prng.Below(3);
    for (std::uint64_t i = 0; i < openings; ++i) {
      Serve().value();
      for (std::uint64_t steps = prng.Below(12); steps > 0; --steps) {
        const std::uint64_t what = prng.Below(8);
        if (what == 0) server->region->Flush().value();
        if (what == 1) server->region->Compact(prng.Chance(1, 2)).value();
        if (what > 1)
          Write(fmt::format("r{}", prng.Below(6)), prng.Chance(1, 6) ? "" : fmt::format("v{}", prng.Next()));
      }
      End(prng.Chance(1, 2));
    }
  }
  // "" when all rows are read, "refused: why" when the region does not open or cannot be read, else the error.
  std::string Judge() {
    if (const Status opened = Serve(); !opened.ok()) return "refused: " + opened.error().ToString();
    for (const auto& [row, value] : rows) {
      const auto read = world.Read(*server->region, row, "q");
      if (!read.ok()) return "refused: " + read.error().ToString();
      if (*read != value) return fmt::format("{} is '{}', was '{}'", row, *read, value);
    }
    return {};
  }
  std::unique_ptr<io::Directory> Directory() {
    return world.disk.NewProcess()->Open("/data/" + world.info.encoded_name()).value();
  }
  std::string Content(const std::string& name) { return Directory()->ReadAll(name).value(); }
  void Place(const std::string& name, const std::optional<std::string>& content) {
    const auto directory = Directory();
    IgnoreResult(directory->Unlink(name), "may be missing");
    if (content) directory->Create(name).value()->Append(*content).value();
  }
  // Files that some opening has called unneeded, without the marks.
  std::set<std::string> GivenUp() {
    std::set<std::string> files;
    for (const std::string& name : world.RegionFiles()) {
      const auto file = io::ParseUnneededName(name);
      if (file && ServingNumber(*file) == 0 && ManifestNumber(*file) == 0) files.insert(name);
    }
    return files;
  }

  EngineWorld world;
  std::unique_ptr<Server> server;
  std::uint64_t open_number = 0;
  std::map<std::string, std::string> rows;

 private:
  [[nodiscard]] std::string Name() const { return fmt::format("s{},1,1", open_number); }
};

std::vector<std::size_t> RecordEnds(const std::string& bytes) {
  io::RecordReader reader(bytes, {});
  std::vector<std::size_t> ends;
  io::Record record;
  while (reader.Next(&record)) ends.push_back(record.end);
  return ends;
}

struct DamagedContent {
  std::string how;
  std::optional<std::string> content;  // nothing: the file is missing
};

DamagedContent DamageAtRandom(const std::string& bytes, const std::string& other, Prng& prng) {
  const std::size_t size = bytes.size();
  const std::size_t at = prng.Below(size + 1);
  std::string changed = bytes;
  const auto zero = [&](std::size_t from, std::size_t to) {
    std::fill(changed.begin() + static_cast<std::ptrdiff_t>(from), changed.begin() + static_cast<std::ptrdiff_t>(to),
              '\0');
  };
  switch (prng.Below(8)) {
    case 0: return {"missing", std::nullopt};
    case 1: return {"another file's content", other};
    case 2: return {fmt::format("cut at {}", at), bytes.substr(0, at)};
    case 3: {
      const auto ends = RecordEnds(bytes);
      const std::size_t end = ends.empty() ? at : ends[prng.Below(ends.size())];
      return {fmt::format("cut at {}, behind a record", end), bytes.substr(0, end)};
    }
    case 4: {
      const auto ends = RecordEnds(bytes);
      const std::size_t end = ends.empty() ? at : ends[prng.Below(ends.size())];
      zero(end, size);
      return {fmt::format("zeros from {} on, behind a record", end), changed};
    }
    case 5: {
      const std::size_t end = at + prng.Below(size - at + 1);
      zero(at, end);
      return {fmt::format("zeros from {} to {}", at, end), changed};
    }
    case 6:
      if (at == size) return {"empty", ""};
      changed[at] = static_cast<char>(changed[at] ^ (1 << prng.Below(8)));
      return {fmt::format("a bit flipped at {}", at), changed};
    default: return {"bytes behind it", bytes + std::string(1 + prng.Below(600), '\x5a')};
  }
}

class RandomDamageTest : public ::testing::Test {
 protected:
  void SetUp() override { ConfigureLog({LogLevel::kError, {}}); }
  void TearDown() override { ConfigureLog({}); }
};

TEST_F(RandomDamageTest, NoLossIsSilent) {
  std::map<std::string, int> outcomes;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Prng prng(seed);
    RegionLife life;
    life.LiveAtRandom(prng);
    const std::vector<std::string> names = life.world.RegionFiles();
    const std::string name = names[prng.Below(names.size())];
    const std::string whole = life.Content(name);
    const DamagedContent damage = DamageAtRandom(whole, life.Content(names[prng.Below(names.size())]), prng);
    SCOPED_TRACE(fmt::format("seed {}: {} {}", seed, name, damage.how));
    // The crash procedure knows that a file of recovered edits was published; the region does not.
    if (name.starts_with(kEditsPrefix) && !damage.content) continue;
    const std::set<std::string> before = life.GivenUp();
    life.Place(name, damage.content);
    const std::string first = life.Judge();
    ASSERT_TRUE(first.empty() || first.starts_with("refused: ")) << first;
    ++outcomes[first.empty() ? "opened" : "refused"];
    if (first.empty()) continue;
    life.server.reset();
    EXPECT_EQ(life.GivenUp(), before) << first;
    life.Place(name, whole);
    EXPECT_EQ(life.Judge(), "");
  }
  EXPECT_GT(outcomes["opened"], 20);
  EXPECT_GT(outcomes["refused"], 100);
}

// --- S92 (leftover store files are proven): lost records without a trace in the manifest itself ---

class LostRecordTest : public RandomDamageTest {
 protected:
  // Two flushes, and the manifest as it was between them.
  void FlushTwice() {
    life.Serve().value();
    life.Write("r1", "one");
    life.server->region->Flush().value();
    older = life.Content("manifest.1");
    life.Write("r2", "two");
    life.End(true);
  }
  RegionLife life;
  std::string older;
};

TEST_F(LostRecordTest, AnOlderCopyOfTheManifestIsRefused) {
  FlushTwice();
  const std::string whole = life.Content("manifest.1");
  life.Place("manifest.1", older);
  EXPECT_THAT(life.Judge(), ::testing::HasSubstr("has lost its record of 1-2.sst"));
  life.server.reset();
  life.Place("manifest.1", whole);
  EXPECT_EQ(life.Judge(), "");
}

TEST_F(LostRecordTest, ALastRecordThatBecameZerosIsRefused) {
  FlushTwice();
  std::string zeroed = life.Content("manifest.1");
  const auto ends = RecordEnds(zeroed);
  ASSERT_GE(ends.size(), 3U);
  const auto last = static_cast<std::ptrdiff_t>(ends[ends.size() - 3]);  // the last flush, and CLOSED
  std::fill(zeroed.begin() + last, zeroed.end(), '\0');
  life.Place("manifest.1", zeroed);
  EXPECT_THAT(life.Judge(), ::testing::HasSubstr("has lost its record of 1-2.sst"));
}

// An operator may decide to continue without it.
TEST_F(LostRecordTest, TheFileMovedAwayLetsTheRestOpen) {
  FlushTwice();
  life.Place("manifest.1", older);
  life.Place("1-2.sst", std::nullopt);
  life.rows["r2"] = "";
  EXPECT_EQ(life.Judge(), "");
}

TEST_F(LostRecordTest, TakingWhatIsLeftIsNoticed) {
  const ScopedMutant mutant("region.take_lost_record");
  FlushTwice();
  life.Place("manifest.1", older);
  EXPECT_EQ(life.Judge(), "r2 is '', was 'two'");
}

// Killed between the file of a flush and its record: the log has all of its data.
TEST_F(LostRecordTest, WhatACrashLeavesOfAFlushIsNoLoss) {
  FlushTwice();
  life.Serve().value();
  life.Write("r3", "three");
  life.server->process->SetHook([](const io::SimEvent& event) {
    const bool record = event.op == io::SimOp::kAppend && event.path.ends_with("manifest.2");
    return record ? io::SimVerdict::CrashBefore() : io::SimVerdict::Proceed();
  });
  EXPECT_FALSE(life.server->region->Flush().ok());
  life.End(false);
  EXPECT_THAT(life.world.RegionFiles(), ::testing::Contains("2-1.sst"));
  EXPECT_EQ(life.Judge(), "");
}

// --- S91 (lengths are checked) ---

// Damage can give a manifest any length.
TEST(HugeManifestTest, IsReadWithoutMemoryForItsLength) {
  constexpr std::uint64_t kHuge = 10ULL << 30;
  const auto path = std::filesystem::temp_directory_path() / fmt::format("ratchet_manifest_{}", ::getpid());
  std::filesystem::remove_all(path);
  const auto directory = io::PosixDisk().OpenOrMake(path.string()).value();
  const std::uint64_t peak = PeakMemory();
  {
    const auto manifest = Manifest::Create(*directory, "r", 1, {}).value();
    ManifestEdit edit;
    edit.flushed_sequence = 7;
    manifest->Append(edit).value();
  }
  std::filesystem::resize_file(path / "manifest.1", kHuge);
  EXPECT_EQ(ReadManifest(*directory, "r", 1).value().flushed_sequence, 7U);
  std::filesystem::resize_file(path / "manifest.1", 0);
  std::filesystem::resize_file(path / "manifest.1", kHuge);
  EXPECT_EQ(ReadManifest(*directory, "r", 1).error().code(), Code::kNotFound) << "it has no state";
  std::filesystem::remove(path / "manifest.1");
  ASSERT_EQ(::mkfifo((path / "manifest.1").c_str(), 0600), 0);
  EXPECT_FALSE(ReadManifest(*directory, "r", 1).ok()) << "and a pipe keeps no thread";
  EXPECT_LT(PeakMemory(), peak + (256U << 20));
  std::filesystem::remove_all(path);
}

}  // namespace
}  // namespace ratchet::regionserver
