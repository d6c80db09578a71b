// S53 (opening starts with full state): every kind of file of a region, damaged in every way that a disk or a hand can:
// empty, cut, zeros at its start, missing, with another file's content. The region stays closed or reports that it
// cannot read; it never answers without its data, and it gives nothing up. With the file restored it opens normally.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/io/record_log.h"
#include "common/io/unneeded_files.h"
#include "regionserver/store/manifest.h"
#include "regionserver/store/ownership.h"
#include "regionserver/wal/log_entry.h"
#include "tests/unit/regionserver_engine/engine_world.h"

namespace ratchet::regionserver {
namespace {

using ::testing::Contains;
using ::testing::Not;

constexpr std::size_t kBlock = 4096;

struct Damage {
  std::string name;
  std::optional<std::string> content;  // nothing: the file is missing
};

// The ends of records in a log of records; none in other files.
std::vector<std::size_t> EndsOfRecords(const std::string& bytes) {
  io::RecordReader reader(bytes, {});
  std::vector<std::size_t> ends;
  io::Record record;
  while (reader.Next(&record)) ends.push_back(record.end);
  return ends;
}

std::vector<Damage> DamagesOf(const std::string& bytes, const std::string& other) {
  std::vector<Damage> all{{"missing", std::nullopt},
                          {"empty", ""},
                          {"cut at 10 bytes", bytes.substr(0, 10)},
                          {"another file's content", other},
                          {"all zeros", std::string(bytes.size(), '\0')}};
  std::string zeros = bytes;
  zeros.replace(0, std::min(kBlock, zeros.size()), std::min(kBlock, zeros.size()), '\0');
  all.push_back({"first block zeros", zeros});
  zeros = bytes;
  zeros.replace(0, std::min<std::size_t>(512, zeros.size()), std::min<std::size_t>(512, zeros.size()), '\0');
  all.push_back({"first sector zeros", zeros});
  const std::vector<std::size_t> ends = EndsOfRecords(bytes);
  // Damages no byte in the zeros after the records, because that loses nothing.
  all.push_back({"cut in the middle", bytes.substr(0, (ends.empty() ? bytes.size() : ends.back()) / 2)});
  for (const std::size_t end : ends) {
    if (end < bytes.size()) all.push_back({fmt::format("cut at {}, behind a record", end), bytes.substr(0, end)});
    all.push_back({fmt::format("cut at {}, in a record", end - 5), bytes.substr(0, end - 5)});
  }
  return all;
}

class DamagedFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ConfigureLog({LogLevel::kError, {}});
    world.Format().value();
  }
  void TearDown() override { ConfigureLog({}); }

  std::unique_ptr<Server> Serve(std::uint64_t open_number) {
    auto server = world.Start(fmt::format("s{},1,1", open_number)).value();
    world.OpenRegion(*server, open_number).value();
    return server;
  }
  void Write(Server& server, const std::string& row, const std::string& value = "v") {
    ASSERT_TRUE(world.Mutate(*server.region, Put(row, "q", value)).value().ok());
    rows[row] = value;
  }
  // Its log is removed, as a log that manifests cover.
  static void CloseAndForget(std::unique_ptr<Server> server) { server->region->Close().value(); }

  std::unique_ptr<io::Directory> Directory() {
    return world.disk.NewProcess()->Open("/data/" + world.info.encoded_name()).value();
  }
  std::string Content(const std::string& name) { return Directory()->ReadAll(name).value(); }
  void Place(const std::string& name, const std::optional<std::string>& content) {
    const auto directory = Directory();
    IgnoreResult(directory->Unlink(name), "may be missing");
    if (!content) return;
    const auto file = directory->Create(name).value();
    file->Append(*content).value();
  }
  // "" when all rows are read, "refused: why" when the region does not open or cannot be read, else the error.
  std::string Open(std::uint64_t open_number) {
    auto server = world.Start(fmt::format("s{},1,1", open_number)).value();
    if (const Status opened = world.OpenRegion(*server, open_number); !opened.ok())
      return "refused: " + opened.error().ToString();
    for (const auto& [row, value] : rows) {
      const auto read = world.Read(*server->region, row, "q");
      if (!read.ok()) return "refused: " + read.error().ToString();
      if (*read != value) return fmt::format("{} is '{}', was '{}'", row, *read, value);
    }
    return {};
  }
  std::vector<std::string> GivenUp() {
    std::vector<std::string> files;
    for (const std::string& name : world.RegionFiles()) {
      const auto file = io::ParseUnneededName(name);
      if (file && ServingNumber(*file) == 0) files.push_back(name);
    }
    return files;
  }

  // An opening refuses each damage of `name`, and gives nothing up; then the file is repaired.
  void EachIsRefused(const std::string& name, const std::string& other) {
    const std::string whole = Content(name);
    const std::vector<std::string> given_up = GivenUp();
    for (const Damage& damage : DamagesOf(whole, other)) {
      SCOPED_TRACE(name + " " + damage.name);
      Place(name, damage.content);
      EXPECT_THAT(Open(++next_opening), ::testing::StartsWith("refused: "));
      EXPECT_EQ(GivenUp(), given_up);
      Place(name, whole);
    }
    EXPECT_EQ(Open(++next_opening), "");
  }

  // Manifest 5 with several records, three files and a compaction.
  void LiveWithFlushes() {
    auto server = Serve(5);
    Write(*server, "r1");
    server->region->Flush().value();
    Write(*server, "r2");
    server->region->Flush().value();
    server->region->Compact(true).value();
    Write(*server, "r3");
    CloseAndForget(std::move(server));
    ASSERT_TRUE(world.Clean("s5,1,1").ok());
  }
  // The manifest of a region with another name.
  std::string ManifestOfAnotherRegion() {
    const auto directory = world.disk.NewProcess()->OpenOrMake("/data/other").value();
    EXPECT_TRUE(Manifest::Create(*directory, "other", 5).ok());
    return directory->ReadAll("manifest.5").value();
  }

  EngineWorld world;
  std::map<std::string, std::string> rows;
  std::uint64_t next_opening = 100;
};

TEST_F(DamagedFilesTest, AManifestOfARegionWithFiles) {
  LiveWithFlushes();
  EachIsRefused("manifest.5", ManifestOfAnotherRegion());
}

// Manifest 6 has taken everything over and written no file of its own: no store file has its number.
TEST_F(DamagedFilesTest, AManifestThatOnlyTookOver) {
  LiveWithFlushes();
  CloseAndForget(Serve(6));
  ASSERT_TRUE(world.Clean("s6,1,1").ok());
  ASSERT_THAT(world.RegionFiles(), Not(Contains("manifest.5")));
  EachIsRefused("manifest.6", ManifestOfAnotherRegion());
}

// There are no store files either, because all rows were deleted: sequences, times and nonces are in the manifest only.
TEST_F(DamagedFilesTest, AManifestOfARegionWithoutFiles) {
  auto server = Serve(5);
  Write(*server, "r1");
  ASSERT_TRUE(world.Mutate(*server->region, DeleteRow("r1")).value().ok());
  rows["r1"] = "";
  server->region->Compact(true).value();
  CloseAndForget(std::move(server));
  ASSERT_TRUE(world.Clean("s5,1,1").ok());
  ASSERT_EQ(world.RegionFiles(), (std::vector<std::string>{"manifest.5", "opened.5", "serving.5"}));
  EachIsRefused("manifest.5", ManifestOfAnotherRegion());
}

// There are files of several openings; the newest has taken over the others' files, so its manifest is the one to
// restore.
TEST_F(DamagedFilesTest, TheManifestToBringBackIsNamed) {
  LiveWithFlushes();
  CloseAndForget(Serve(6));
  Place("manifest.6", "");
  EXPECT_THAT(Open(7), ::testing::HasSubstr("opened.6 shows that manifest.6 had a state"));
}

// The directory is one of an earlier version, in which openings did not record that they had a state.
TEST_F(DamagedFilesTest, AManifestBesideFilesIsEnoughToKnow) {
  LiveWithFlushes();
  Directory()->Unlink("opened.5").value();
  EachIsRefused("manifest.5", ManifestOfAnotherRegion());
}

// No file is left, so the directory shows no trace of an opening. The master knows of one.
TEST_F(DamagedFilesTest, ADirectoryWithoutAnyFileOpensOnlyWhereNoneWasOpenBefore) {
  world.opened_before = true;
  EXPECT_NE(Open(5).find("recorded an opening of the region"), std::string::npos);
  EXPECT_THAT(GivenUp(), ::testing::IsEmpty());
  // The refused opening has left a manifest without a state: it does not count as an earlier opening either.
  EXPECT_NE(Open(6).find("recorded an opening of the region"), std::string::npos);
  world.opened_before = false;
  EXPECT_EQ(Open(7), "");
  world.opened_before = true;
  EXPECT_EQ(Open(8), "");
}

TEST_F(DamagedFilesTest, OpeningOverALostManifestIsNoticed) {
  const ScopedMutant mutant("region.open_over_lost_manifest");
  const ScopedMutant no_other_net("region.take_lost_record");  // S92 (leftover store files are proven) notices as well
  LiveWithFlushes();
  Place("manifest.5", Content("manifest.5").substr(0, 10));
  EXPECT_EQ(Open(6), "r1 is '', was 'v'");
  EXPECT_THAT(GivenUp(), Contains("unneeded.5-3.sst"));  // the mutants that the tests above would notice
}

TEST_F(DamagedFilesTest, AManifestThatMayEndAnywhereIsNoticed) {
  const ScopedMutant mutant("manifest.any_end");
  const ScopedMutant no_other_net("region.take_lost_record");  // S92 notices as well
  LiveWithFlushes();
  const std::string whole = Content("manifest.5");
  const auto ends = EndsOfRecords(whole);
  ASSERT_GE(ends.size(), 3U);
  Place("manifest.5", whole.substr(0, ends[ends.size() - 3]));  // the last flush and CLOSED are gone
  EXPECT_EQ(Open(6), "r3 is '', was 'v'");
}

// Damages the last record too. A crash could have torn it, but not in this way, because its flush was acknowledged.
TEST_F(DamagedFilesTest, AFlippedByteAnywhereInAManifest) {
  LiveWithFlushes();
  const std::string whole = Content("manifest.5");
  const std::vector<std::string> given_up = GivenUp();
  for (std::size_t i = 0; i < EndsOfRecords(whole).back(); ++i) {
    SCOPED_TRACE(i);
    std::string flipped = whole;
    flipped[i] = static_cast<char>(flipped[i] ^ 0x40);
    Place("manifest.5", flipped);
    EXPECT_THAT(Open(++next_opening), ::testing::StartsWith("refused: "));
  }
  EXPECT_EQ(GivenUp(), given_up);
  Place("manifest.5", whole);
  EXPECT_EQ(Open(++next_opening), "");
}

TEST_F(DamagedFilesTest, TakingADamagedTailForTornIsNoticed) {
  const ScopedMutant mutant("manifest.any_tail");
  const ScopedMutant no_other_net("region.take_lost_record");  // S92 notices as well
  LiveWithFlushes();
  std::string flipped = Content("manifest.5");
  const auto ends = EndsOfRecords(flipped);
  const std::size_t end = ends[ends.size() - 2];  // of the last flush; CLOSED was not written yet
  flipped.replace(end, std::string::npos, flipped.size() - end, '\0');
  const std::size_t last = end - 12;
  flipped[last] = static_cast<char>(flipped[last] ^ 0x40);
  Place("manifest.5", flipped);
  EXPECT_EQ(Open(6), "r3 is '', was 'v'");
}

// The manifest of an opening that died is not damage: no record shows that it had a state.
TEST_F(DamagedFilesTest, AnOpeningThatDiedEarlyIsNoDamage) {
  LiveWithFlushes();
  for (const std::string& content : {std::string(), std::string(kBlock, '\0')}) {
    Place("manifest.6", content);
    Place("serving.6", "");
    EXPECT_EQ(Open(++next_opening), "");
  }
}

TEST_F(DamagedFilesTest, AStoreFile) {
  auto server = Serve(5);
  Write(*server, "r1");
  server->region->Flush().value();
  Write(*server, "r2");
  CloseAndForget(std::move(server));
  EachIsRefused("5-1.sst", Content("5-2.sst"));  // as many cells, as many bytes
}

TEST_F(DamagedFilesTest, AnotherStoreFileUnderTheNameIsNoticed) {
  const ScopedMutant mutant("store.any_file");
  auto server = Serve(5);
  Write(*server, "r1");
  server->region->Flush().value();
  Write(*server, "r2");
  CloseAndForget(std::move(server));
  Place("5-1.sst", Content("5-2.sst"));
  EXPECT_EQ(Open(6), "r1 is '', was 'v'");
}

// The region does not know that a missing file existed: the crash procedure checks that it was published.
TEST_F(DamagedFilesTest, RecoveredEdits) {
  auto server = Serve(5);
  Write(*server, "r1");
  Write(*server, "r2");
  server.reset();
  world.Recover("s5,1,1").value();
  const std::string name = "edits.s5,1,1.log.0000000001";
  const std::string whole = Content(name);
  for (const Damage& damage : DamagesOf(whole, ManifestOfAnotherRegion())) {
    if (!damage.content) continue;
    SCOPED_TRACE(damage.name);
    Place(name, damage.content);
    EXPECT_THAT(Open(++next_opening), ::testing::StartsWith("refused: "));
    EXPECT_EQ(GivenUp(), std::vector<std::string>{});
    Place(name, whole);
  }
  EXPECT_EQ(Open(++next_opening), "");
}

// Writes the file as splitters did that recorded no end of a file.
TEST_F(DamagedFilesTest, RecoveredEditsWithoutAFrameAreReplayed) {
  auto server = Serve(5);
  Write(*server, "r1");
  server.reset();
  world.Recover("s5,1,1").value();
  const std::string name = "edits.s5,1,1.log.0000000001";
  const std::string framed = Content(name);
  io::RecordReader reader(framed, {});
  Place(name, std::nullopt);
  io::RecordWriter writer(Directory()->Create(name).value(),
                          {kRecoveredEditsKind, io::LogFileId(world.info.encoded_name() + "/" + name)});
  io::Record record;
  while (reader.Next(&record))
    if (record.type == kEntryRecordType)
      writer.Add(record.type, record.version, record.sequence, record.payload).value();
  writer.Sync().value();
  EXPECT_EQ(Open(6), "");
}

TEST_F(DamagedFilesTest, CutRecoveredEditsAreNoticed) {
  const ScopedMutant mutant("region.take_cut_edits");
  auto server = Serve(5);
  Write(*server, "r1");
  Write(*server, "r2");
  server.reset();
  world.Recover("s5,1,1").value();
  const std::string name = "edits.s5,1,1.log.0000000001";
  const std::string whole = Content(name);
  const auto ends = EndsOfRecords(whole);
  ASSERT_EQ(ends.size(), 4U);
  Place(name, whole.substr(0, ends[1]));
  EXPECT_EQ(Open(6), "r2 is '', was 'v'");
}

TEST_F(DamagedFilesTest, EmptyRecoveredEditsAreNoticed) {
  const ScopedMutant mutant("region.take_empty_edits");
  auto server = Serve(5);
  Write(*server, "r1");
  server.reset();
  world.Recover("s5,1,1").value();
  Place("edits.s5,1,1.log.0000000001", "");
  EXPECT_EQ(Open(6), "r1 is '', was 'v'");
}

// --- S54 (no schema, no change) ---

TEST_F(DamagedFilesTest, ASchemaWithoutFamiliesOpensNothing) {
  LiveWithFlushes();
  const TableDescriptor table = world.table;
  world.table.families.clear();
  EXPECT_THAT(Open(6), ::testing::HasSubstr("without column families"));
  EXPECT_THAT(world.RegionFiles(), Not(Contains("manifest.6")));
  world.table = table;
  EXPECT_EQ(Open(7), "");
}

TEST_F(DamagedFilesTest, OpeningWithoutFamiliesIsNoticed) {
  const ScopedMutant mutant("region.open_without_families");
  LiveWithFlushes();
  world.table.families.clear();
  auto server = Serve(6);
  EXPECT_TRUE(world.ScanAll(*server->region).value().empty());
}

// Rows are in family f; the region is opened by a schema with only family g, compacted, and opened by the true schema.
std::string ReadAfterACompactionThatKnowsOnlyG(EngineWorld& world) {
  auto server = world.Start("a,1,1").value();
  world.OpenRegion(*server, 5).value();
  EXPECT_TRUE(world.Mutate(*server->region, Put("r", "q", "v")).value().ok());
  server->region->Close().value();
  const TableDescriptor table = world.table;
  std::erase_if(world.table.families, [](const FamilyDescriptor& family) { return family.name == "f"; });
  world.OpenRegion(*server, 6).value();
  server->region->Compact(true).value();
  server->region->Close().value();
  world.table = table;
  world.OpenRegion(*server, 7).value();
  return world.Read(*server->region, "r", "q").value();
}

TEST_F(DamagedFilesTest, ACompactionKeepsFamiliesThatItDoesNotKnow) {
  EXPECT_EQ(ReadAfterACompactionThatKnowsOnlyG(world), "v");
}

TEST_F(DamagedFilesTest, DroppingUnknownFamiliesIsNoticed) {
  const ScopedMutant mutant("region.drop_unknown_families");
  EXPECT_EQ(ReadAfterACompactionThatKnowsOnlyG(world), "");
}

// Damage that occurs while the region is open is reported to the server with the file's name, each time that a read
// finds it.
TEST_F(DamagedFilesTest, DamageOfAFileOfAnOpenRegionIsTold) {
  std::vector<std::string> told;
  world.damaged = [&told](const std::string& file, const Error& error) {
    told.push_back(fmt::format("{}: {}", file, error.code() == Code::kCorruption ? "corrupt" : "unreadable"));
  };
  auto server = Serve(5);
  Write(*server, "r1");
  server->region->Flush().value();
  std::string file;
  for (const std::string& name : world.RegionFiles())
    if (name.ends_with(".sst")) file = name;
  ASSERT_NE(file, "");
  ASSERT_TRUE(told.empty());
  std::string bytes = Content(file).substr(2, 8);
  for (char& byte : bytes) byte = static_cast<char>(byte ^ 0x55);
  world.disk.Overwrite("/data/" + world.info.encoded_name() + "/" + file, 2, bytes).value();
  EXPECT_FALSE(world.Read(*server->region, "r1", "q").ok());
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.front(), file + ": corrupt");
  told.clear();
  EXPECT_FALSE(server->region->Compact(true).ok());
  EXPECT_FALSE(told.empty());
}

}  // namespace
}  // namespace ratchet::regionserver
