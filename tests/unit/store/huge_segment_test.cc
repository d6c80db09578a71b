// S91 (lengths are checked): a segment that damage has made huge is distinguished from a valid store without memory for
// its length.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "common/base/clock.h"
#include "procedure/store/tool/wal_tool.h"
#include "procedure/store/wal_store.h"
#include "tests/support/peak_memory.h"

namespace ratchet::procedure {
namespace {

constexpr std::uint64_t kHugeSegment = 10ULL << 30;
constexpr std::uint64_t kAllowedGrowth = 256ULL << 20;

class HugeSegmentTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = std::filesystem::temp_directory_path() / fmt::format("ratchet_segments_{}", ::getpid());
    std::filesystem::remove_all(root_);
    const auto store = Open();
    ASSERT_TRUE(store->Claim().ok());
    for (std::uint64_t pid = 1; pid <= 3; ++pid) {
      StoreBatch batch;
      batch.upserts.push_back({ProcId(pid), 1, "record"});
      ASSERT_TRUE(store->CommitAndWait(std::move(batch)).ok());
    }
    store->Stop();
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  std::unique_ptr<WalStore> Open() {
    WalStoreOptions options;
    options.spares = 0;
    return std::make_unique<WalStore>(io::PosixDisk().OpenOrMake((root_ / "procedures").string()).value(),
                                      io::PosixDisk().OpenOrMake((root_ / "quarantine").string()).value(), clock_,
                                      options);
  }
  // "3 records", or the error.
  std::string Load() {
    const auto store = Open();
    const auto loaded = store->Claim();
    store->Stop();
    return loaded.ok() ? fmt::format("{} records", loaded->records.size()) : loaded.error().ToString();
  }
  std::filesystem::path Segment(const char* name) { return root_ / "procedures" / name; }
  std::string Verify() {
    std::ostringstream out;
    std::ostringstream err;
    const auto directory = io::PosixDisk().Open((root_ / "procedures").string()).value();
    tool::Verify(*directory, false, out, err);
    tool::Print(*directory, {}, out, err);
    return out.str() + err.str();
  }

  std::filesystem::path root_;
  SystemClock clock_;
  const std::uint64_t peak_ = PeakMemory();
};

TEST_F(HugeSegmentTest, ZerosBehindTheRecords) {
  std::filesystem::resize_file(Segment("segment.1.1"), kHugeSegment);
  EXPECT_EQ(Load(), "3 records");
  EXPECT_NE(Verify().find("The store is sound"), std::string::npos);
  EXPECT_LT(PeakMemory(), peak_ + kAllowedGrowth);
}

TEST_F(HugeSegmentTest, ANewerOneOfZerosIsAnOwnerThatDidNotWrite) {
  std::ofstream(Segment("segment.1.2")).flush();
  std::filesystem::resize_file(Segment("segment.1.2"), kHugeSegment);
  EXPECT_EQ(Load(), "3 records");
  EXPECT_LT(PeakMemory(), peak_ + kAllowedGrowth);
}

// Refused with its name; what is larger than any segment is not copied onto a disk that the cluster needs.
TEST_F(HugeSegmentTest, BytesFarBehindTheRecordsAreDamage) {
  std::filesystem::resize_file(Segment("segment.1.1"), kHugeSegment);
  {
    std::fstream file(Segment("segment.1.1"), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(kHugeSegment / 2));
    file << "garbage";
  }
  const std::string refused = Load();
  EXPECT_NE(refused.find("segment.1.1 at offset"), std::string::npos) << refused;
  EXPECT_NE(refused.find("no copy: segment.1.1 has 10737418240 bytes"), std::string::npos) << refused;
  EXPECT_TRUE(std::filesystem::is_empty(root_ / "quarantine"));
  EXPECT_LT(PeakMemory(), peak_ + kAllowedGrowth);
}

}  // namespace
}  // namespace ratchet::procedure
