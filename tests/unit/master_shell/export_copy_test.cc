// Files of snapshots that are copied out and back, on a real disk.
#include "master/storage/export_copy.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "common/base/prng.h"
#include "master/storage/checked_content.h"

namespace ratchet::master {
namespace {

namespace fs = std::filesystem;

class ExportCopyTest : public ::testing::Test {
 protected:
  ExportCopyTest() : top_(fs::temp_directory_path() / fmt::format("ratchet-export-{:x}", RandomSeed())) {
    for (const char* name : {"part", "export", "back"}) fs::create_directories(top_ / name);
    Write("part/1-1.sst", std::string(3'000'000, 'a'));
    Write("part/1-2.sst", "");
    Write("part/manifest.1", "manifest");
  }
  ~ExportCopyTest() override { fs::remove_all(top_); }

  void Write(const std::string& name, const std::string& content) {
    std::ofstream(top_ / name, std::ios::binary | std::ios::trunc) << content;
  }
  std::string Read(const std::string& name) {
    std::ifstream file(top_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::unique_ptr<io::Directory> Open(const std::string& name) {
    return io::PosixDisk().Open((top_ / name).string()).value();
  }
  Result<CopiedFiles> Export() { return ExportRegionFiles(*Open("part"), *Open("export"), check_); }
  Result<CopiedFiles> Import() { return ImportRegionFiles(*Open("export"), *Open("back"), check_); }
  std::size_t CountIn(const std::string& name) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(top_ / name), fs::directory_iterator()));
  }

  const fs::path top_;
  std::function<Status()> check_ = [] { return Ok(); };
};

TEST_F(ExportCopyTest, EveryByteComesBack) {
  const auto out = Export();
  ASSERT_TRUE(out.ok()) << out.error().ToString();
  EXPECT_EQ(out->files, 3U);
  EXPECT_EQ(out->bytes, 3'000'008U);
  const auto in = Import();
  ASSERT_TRUE(in.ok()) << in.error().ToString();
  EXPECT_EQ(in->bytes, out->bytes);
  for (const char* name : {"1-1.sst", "1-2.sst", "manifest.1"})
    EXPECT_EQ(Read(fmt::format("back/{}", name)), Read(fmt::format("part/{}", name))) << name;
  EXPECT_EQ(CountIn("back"), 3U) << "the list is of the export alone";
}

// Whole files stay, and incomplete ones are copied again.
TEST_F(ExportCopyTest, ACopyThatWasCutShortGoesOn) {
  ASSERT_TRUE(Export().ok());
  const auto before = fs::last_write_time(top_ / "export/1-1.sst");
  Write("export/manifest.1", "manifes");
  fs::remove(top_ / "export/1-2.sst");
  ASSERT_TRUE(Export().ok());
  EXPECT_EQ(Read("export/manifest.1"), "manifest");
  EXPECT_TRUE(fs::exists(top_ / "export/1-2.sst"));
  EXPECT_EQ(fs::last_write_time(top_ / "export/1-1.sst"), before) << "it was whole";
}

TEST_F(ExportCopyTest, AMasterThatLosesItsOfficeLeavesNoHalfFile) {
  int looks = 0;
  check_ = [&looks]() -> Status {
    return ++looks > 5 ? Status(Error(Code::kFenced, "deposed")) : Ok();  // in the middle of the first file
  };
  EXPECT_EQ(Export().error().code(), Code::kFenced);
  EXPECT_EQ(CountIn("export"), 0U);
}

TEST_F(ExportCopyTest, ADamagedFileIsNotImported) {
  ASSERT_TRUE(Export().ok());
  const std::string good = Read("export/1-1.sst");
  for (const std::size_t at : {std::size_t{0}, good.size() / 2, good.size() - 1}) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    Write("export/1-1.sst", bad);
    EXPECT_EQ(Import().error().code(), Code::kCorruption) << at;
    EXPECT_FALSE(fs::exists(top_ / "back/1-1.sst")) << at;
  }
  Write("export/1-1.sst", good.substr(1));
  EXPECT_EQ(Import().error().code(), Code::kCorruption) << "too short";
  Write("export/1-1.sst", good);
  EXPECT_TRUE(Import().ok());
}

TEST_F(ExportCopyTest, TrustInCopiesIsNoticed) {
  const ScopedMutant mutant("export.trust_copies");
  ASSERT_TRUE(Export().ok());
  Write("export/manifest.1", "manifesT");
  EXPECT_TRUE(Import().ok());
  EXPECT_EQ(Read("back/manifest.1"), "manifesT") << "the damage is in the snapshot";
}

// Bytes from outside of the cluster.
TEST_F(ExportCopyTest, AListThatIsNoneIsRefused) {
  ASSERT_TRUE(Export().ok());
  const std::string good(CheckedContent(Read("export/files.list"), "it").value());
  for (const std::string& bad :
       {std::string("x"), good + "x\n", std::string("00000000 0 ../evil\n"), std::string("00000000 0 a/b\n"),
        std::string("00000000 0 \n"), std::string("zz 0 a\n"), std::string("00000000 99999999999999999999999 a\n")}) {
    Write("export/files.list", WithChecksum(bad));
    EXPECT_EQ(Import().error().code(), Code::kCorruption) << bad;
  }
  Write("export/files.list", good);
  EXPECT_EQ(Import().error().code(), Code::kCorruption) << "without its checksum";
  fs::remove(top_ / "export/files.list");
  EXPECT_EQ(Import().error().code(), Code::kNotFound);
  EXPECT_EQ(CountIn("back"), 0U);
}

}  // namespace
}  // namespace ratchet::master
