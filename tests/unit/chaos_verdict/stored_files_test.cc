// The files of a small root, whole and with one byte changed.
#include "chaos/verdict/stored_files.h"

#include <unistd.h>

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/io/disk.h"
#include "common/io/record_log.h"
#include "regionserver/store/manifest.h"
#include "regionserver/store/store_file.h"

namespace ratchet::chaos {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

constexpr const char* kEncoded = "0123456789abcdef0123456789abcdef";

class StoredFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / fmt::format("ratchet-stored-files-{}", getpid());
    fs::remove_all(root_);
    region_ = root_ / "data" / "default" / "t" / kEncoded;
    for (const fs::path& folder : {root_ / "procedures", root_ / "wals" / "h,1,2", region_}) {
      fs::create_directories(folder);
    }
    WriteLog();
    WriteRegion();
  }
  void TearDown() override { fs::remove_all(root_); }

  void WriteLog() {
    auto directory = io::PosixDisk().Open((root_ / "wals" / "h,1,2").string()).value();
    io::RecordWriter writer(directory->Create(log_.filename().string()).value(), {'L', 7});
    for (std::uint64_t i = 1; i <= 3; ++i) writer.Add(1, 1, i, std::string(100, 'x')).value();
    writer.Sync().value();
    writer.Add(1, 1, 4, std::string(100, 'y')).value();
    writer.Sync().value();
  }
  void WriteRegion() {
    std::shared_ptr<io::Directory> directory = io::PosixDisk().Open(region_.string()).value();
    regionserver::ManifestState state;
    {
      const regionserver::StoreFiles store(directory, regionserver::KeyOrder{});
      auto writer = store.Create("1-1.sst").value();
      for (int row = 0; row < 200; ++row) {
        const Cell cell{fmt::format("r{:03}", row), "f", "q", 1, CellType::kPut, std::string(50, 'v')};
        writer->Add(regionserver::CellKey(cell, 1), regionserver::EncodeStoredValue(cell.value, std::nullopt)).value();
      }
      state.files.push_back(writer->Finish().value());
    }
    state.flushed_sequence = 1;
    regionserver::Manifest::Publish(*directory, kEncoded, 1, state).value();
  }
  static void Flip(const fs::path& file, std::int64_t from_end) {
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekg(-from_end, std::ios::end);
    const int byte = bytes.get();
    bytes.seekp(-from_end, std::ios::end);
    bytes.put(static_cast<char>(byte ^ 1));
    ASSERT_TRUE(bytes.good()) << file;
  }
  std::string Wrong() {
    const Finding finding = JudgeStoredFiles(ReadStoredFiles(root_));
    return finding.good ? "" : finding.text;
  }

  fs::path root_;
  fs::path region_;
  const fs::path log_ = "log.0000000001";
};

TEST_F(StoredFilesTest, SoundFilesAreCounted) {
  const StoredFiles files = ReadStoredFiles(root_);
  EXPECT_EQ(files.logs, 1U);
  EXPECT_EQ(files.log_records, 4U);
  EXPECT_EQ(files.manifests, 1U);
  EXPECT_EQ(files.store_files, 1U);
  EXPECT_EQ(files.cells, 200U);
  EXPECT_THAT(files.wrong, ::testing::IsEmpty());
  EXPECT_EQ(Wrong(), "");
}

TEST_F(StoredFilesTest, AByteOfAStoreFile) {
  const fs::path file = region_ / "1-1.sst";
  Flip(file, static_cast<std::int64_t>(fs::file_size(file)) - 100);  // in the first block
  EXPECT_THAT(Wrong(), HasSubstr("1-1.sst"));
}

TEST_F(StoredFilesTest, AByteOfAManifest) {
  Flip(region_ / "manifest.1", 20);
  EXPECT_NE(Wrong(), "");
}

TEST_F(StoredFilesTest, AByteOfALogThatWasDurable) {
  Flip(root_ / "wals" / "h,1,2" / log_, 200);
  EXPECT_THAT(Wrong(), HasSubstr("log.0000000001"));
}

TEST_F(StoredFilesTest, AStoreFileThatIsMissing) {
  fs::remove(region_ / "1-1.sst");
  EXPECT_THAT(Wrong(), HasSubstr("1-1.sst"));
}

TEST_F(StoredFilesTest, AProcedureStoreThatIsMissing) {
  fs::remove(root_ / "procedures");
  EXPECT_THAT(Wrong(), HasSubstr("procedures"));
}

TEST_F(StoredFilesTest, ARootWithoutFilesIsNoPass) {
  fs::remove_all(root_ / "wals" / "h,1,2");
  EXPECT_THAT(Wrong(), HasSubstr("prove nothing"));
}

}  // namespace
}  // namespace ratchet::chaos
