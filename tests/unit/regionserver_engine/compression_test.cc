// COMPRESSION of families: which one a file gets, that the file names it, is smaller because of it, and is read
// whatever the table's setting is by then.
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/base/prng.h"
#include "regionserver/region/file_settings.h"
#include "regionserver/store/cell_key.h"
#include "regionserver/store/store_file.h"
#include "tests/unit/regionserver_engine/engine_world.h"

namespace ratchet::regionserver {
namespace {

TableDescriptor TableWith(const std::vector<std::map<std::string, std::string>>& families) {
  TableDescriptor table;
  for (const auto& settings : families) {
    table.families.push_back(DefaultFamily(fmt::format("f{}", table.families.size())));
    for (const auto& [key, value] : settings) table.families.back().attributes[key] = value;
  }
  return table;
}

TEST(TableCompressionTest, ASettingOfTheUseCountsFirst) {
  const auto table = TableWith({{{"COMPRESSION", "SNAPPY"}, {"COMPRESSION_COMPACT_MAJOR", "zstd"}}});
  EXPECT_EQ(CompressionFor(table, FileUse::kFlush), FileCompression::kSnappy);
  EXPECT_EQ(CompressionFor(table, FileUse::kMinorCompaction), FileCompression::kSnappy);
  EXPECT_EQ(CompressionFor(table, FileUse::kMajorCompaction), FileCompression::kZstd);
  const auto both = TableWith({{{"COMPRESSION_COMPACT", "GZ"}, {"COMPRESSION_COMPACT_MINOR", "LZ4"}}});
  EXPECT_EQ(CompressionFor(both, FileUse::kFlush), FileCompression::kLz4);
  EXPECT_EQ(CompressionFor(both, FileUse::kMinorCompaction), FileCompression::kLz4);
  EXPECT_EQ(CompressionFor(both, FileUse::kMajorCompaction), FileCompression::kGz);
}

TEST(TableCompressionTest, TheFamilyThatPacksBestDecides) {
  EXPECT_EQ(CompressionFor(TableWith({{}, {{"COMPRESSION", "GZ"}}, {{"COMPRESSION", "SNAPPY"}}}), FileUse::kFlush),
            FileCompression::kGz);
  EXPECT_EQ(CompressionFor(TableWith({{}, {}}), FileUse::kFlush), FileCompression::kLz4);
  EXPECT_EQ(CompressionFor(TableWith({{{"COMPRESSION", "of a later version"}}}), FileUse::kFlush),
            FileCompression::kLz4);
}

TEST(FileCompressionTest, AFileSaysHowItIsCompressed) {
  io::SimDisk disk;
  const auto process = disk.NewProcess();
  const std::shared_ptr<io::Directory> directory = process->OpenOrMake("/region").value();
  const StoreFiles files(directory, KeyOrder{});
  const std::map<FileCompression, std::string> names = {{FileCompression::kLz4, "LZ4"},
                                                        {FileCompression::kSnappy, "Snappy"},
                                                        {FileCompression::kGz, "Zlib"},
                                                        {FileCompression::kZstd, "ZSTD"}};
  for (const auto& [compression, name] : names) {
    const auto writer = files.Create(name + ".sst", compression).value();
    const auto key = [](int row) { return CellKey(Cell{fmt::format("r{}", row), "f", "q", 1, CellType::kPut, ""}, 1); };
    for (int row = 0; row < 9; ++row)
      writer->Add(key(row), EncodeStoredValue(std::string(50'000, 'a'), std::nullopt)).value();
    const StoreFileInfo info = writer->Finish().value();
    EXPECT_LT(info.bytes, 100'000U) << name;
    const auto reader = files.OpenFile(info).value();
    EXPECT_EQ(reader->compression(), name);
    EXPECT_GT(reader->raw_bytes(), 450'000U);
    const auto cursor = StoreFiles::NewCursor(reader);
    std::size_t rows = 0;
    for (cursor->Seek({}); cursor->Valid(); cursor->Next()) ++rows;
    EXPECT_TRUE(cursor->status().ok());
    EXPECT_EQ(rows, 9U) << name;
  }
}

// Random digits: they do not repeat, but each takes a byte and has half a byte of information, which GZ and ZSTD use.
class CompressedRegion : public EngineWorld {
 public:
  explicit CompressedRegion(const std::string& compression) {
    EXPECT_TRUE(Format().ok());
    Have(compression);
    server_ = Start("a,1,1").value();
    EXPECT_TRUE(OpenRegion(*server_, 5).ok());
  }
  void Have(const std::string& compression) { table.families.front().attributes["COMPRESSION"] = compression; }
  void WriteAndFlush() {
    Prng prng(7);
    for (int row = 0; row < 40; ++row) {
      std::string value;
      while (value.size() < 5'000) value += fmt::format("{:016x}", prng.Next());
      const auto written = Mutate(*server_->region, Put(fmt::format("r{:03}", row), "q", value));
      EXPECT_TRUE(written.has_value() && written->ok());
    }
    EXPECT_TRUE(server_->region->Flush().ok());
  }
  void OpenAgain() {
    EXPECT_TRUE(server_->region->Close().ok());
    opened_before = true;
    EXPECT_TRUE(OpenRegion(*server_, 9).ok());
  }
  [[nodiscard]] std::uint64_t bytes() const { return server_->region->GetStatus().store_bytes; }
  [[nodiscard]] Region& region() { return *server_->region; }

 private:
  std::unique_ptr<Server> server_;
};

std::uint64_t BytesWith(const std::string& compression) {
  CompressedRegion region(compression);
  region.WriteAndFlush();
  return region.bytes();
}

TEST(RegionCompressionTest, FilesOfAFlushAreSmaller) {
  const std::uint64_t fast = BytesWith("NONE");
  EXPECT_EQ(BytesWith("LZ4"), fast);
  for (const char* packs : {"GZ", "ZSTD"}) {
    EXPECT_LT(BytesWith(packs), fast * 3 / 4) << packs;
    EXPECT_GT(BytesWith(packs), 0U) << packs;
  }
  EXPECT_GT(BytesWith("SNAPPY"), fast * 3 / 4);
}

TEST(RegionCompressionTest, AnAlteredTableIsReadAndItsFilesAreMadeAnewByACompaction) {
  CompressedRegion region("NONE");
  region.WriteAndFlush();
  const std::uint64_t before = region.bytes();
  region.Have("ZSTD");
  region.OpenAgain();
  EXPECT_EQ(region.ScanAll(region.region()).value().size(), 40U);
  EXPECT_EQ(region.bytes(), before) << "files stay as they are";
  ASSERT_TRUE(region.region().Compact(true).ok());
  EXPECT_LT(region.bytes(), before * 3 / 4);
  EXPECT_EQ(region.ScanAll(region.region()).value().size(), 40U);
}

}  // namespace
}  // namespace ratchet::regionserver
