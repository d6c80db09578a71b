// S91 (lengths are checked): names and lengths in files cost neither memory nor a thread.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "common/io/cluster_id.h"
#include "common/io/cluster_key.h"
#include "common/io/record_log.h"
#include "common/io/torn_write.h"
#include "tests/support/sim_disk.h"

namespace ratchet::io {
namespace {

constexpr std::uint64_t kHuge = 10ULL << 30;

class HugeFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = std::filesystem::temp_directory_path() / fmt::format("ratchet_huge_{}", ::getpid());
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
    root_ = PosixDisk().Open(path_.string()).value();
  }
  void TearDown() override { std::filesystem::remove_all(path_); }

  // Makes a file of this size that uses no space.
  void MakeHole(const std::string& name, std::uint64_t bytes) {
    ASSERT_TRUE(root_->Create(name).ok());
    std::filesystem::resize_file(path_ / name, bytes);
  }
  std::filesystem::path path_;
  std::unique_ptr<Directory> root_;
};

TEST_F(HugeFileTest, WhatIsReadAsAWholeHasABound) {
  MakeHole("huge", kHuge);
  EXPECT_EQ(root_->ReadAll("huge").error().code(), Code::kCorruption);
  EXPECT_NE(root_->ReadAll("huge").error().message().find("it has 10737418240 bytes"), std::string::npos);
  MakeHole("small", 20);
  EXPECT_EQ(root_->ReadAll("small", 20).value().size(), 20U);
  EXPECT_EQ(root_->ReadAll("small", 19).error().code(), Code::kCorruption);
}

TEST_F(HugeFileTest, ReadingAllOfItIsNoticed) {
  const ScopedMutant mutant("io.read_whole");
  MakeHole("small", 20);
  EXPECT_EQ(root_->ReadAll("small", 19).value().size(), 20U);
}

TEST_F(HugeFileTest, IdsAndKeys) {
  MakeHole(kClusterIdFile, kHuge);
  MakeHole(kClusterKeyFile, kHuge);
  EXPECT_EQ(ReadClusterId(*root_).error().code(), Code::kCorruption);
  EXPECT_EQ(ReadClusterKeys(*root_).error().code(), Code::kCorruption);
}

// If it were opened like any file, a pipe without a writer would block its reader without end, and one without a reader
// its writer.
TEST_F(HugeFileTest, APipeKeepsNoThread) {
  for (const char* name : {"pipe", kClusterIdFile, kClusterKeyFile})
    ASSERT_EQ(::mkfifo((path_ / name).c_str(), 0600), 0);
  EXPECT_EQ(root_->ReadAll("pipe").error().code(), Code::kCorruption);
  EXPECT_EQ(root_->SyncFile("pipe").error().code(), Code::kCorruption) << "and no sync has failed";
  EXPECT_FALSE(root_->OpenForWrite("pipe").ok());
  EXPECT_FALSE(root_->Cut("pipe", 0).ok());
  EXPECT_EQ(ReadClusterId(*root_).error().code(), Code::kCorruption);
  EXPECT_EQ(ReadClusterKeys(*root_).error().code(), Code::kCorruption);
}

TEST_F(HugeFileTest, ADirectoryIsNoFile) {
  ASSERT_TRUE(root_->MakeDir(kClusterIdFile).ok());
  EXPECT_FALSE(ReadClusterId(*root_).ok());
}

TEST(ClusterIdTest, OnlyOneLineOfPrintableCharactersIsAnId) {
  SimDisk disk;
  const auto process = disk.NewProcess();
  const auto root = process->OpenOrMake("/root").value();
  EXPECT_EQ(ReadClusterId(*root).error().code(), Code::kNotFound);
  const auto read = [&root](const std::string& content) {
    IgnoreResult(root->Unlink(kClusterIdFile), "may be missing");
    EXPECT_TRUE(root->Create(kClusterIdFile).value()->Append(content).ok());
    return ReadClusterId(*root);
  };
  EXPECT_EQ(read(" 5a-b7\n").value(), "5a-b7");
  for (const std::string& content : {std::string(), std::string(" \n"), std::string("a\nb"), std::string(36, '\0'),
                                     std::string(129, 'a'), std::string("5a-\xb7")})
    EXPECT_EQ(read(content).error().code(), Code::kCorruption) << content.size();
}

// A log of one record, then a hole or `filler` up to kHuge bytes. Counts the bytes read.
class HugeLog final : public ReadableFile {
 public:
  HugeLog(std::string begin, char filler) : begin_(std::move(begin)), filler_(filler) {}
  Result<std::size_t> ReadAt(std::uint64_t offset, char* out, std::size_t length) const override {
    const std::size_t got = offset < kHuge ? std::min<std::uint64_t>(length, kHuge - offset) : 0;
    std::fill_n(out, got, filler_);
    if (offset < begin_.size()) begin_.copy(out, got, offset);
    read_ += got;
    return got;
  }
  Result<std::uint64_t> size() const override { return kHuge; }
  std::uint64_t SkipHole(std::uint64_t offset) const override {
    return filler_ != '\0' || offset < begin_.size() ? offset : kHuge;
  }
  Status Sync() override { return Ok(); }
  [[nodiscard]] std::uint64_t read() const { return read_; }

 private:
  const std::string begin_;
  const char filler_;
  mutable std::uint64_t read_ = 0;
};

constexpr LogIdentity kHugeLog{7, 4711};

std::string OneRecord() {
  SimDisk disk;
  const auto process = disk.NewProcess();
  const auto root = process->OpenOrMake("/root").value();
  RecordWriter writer(root->Create("log").value(), kHugeLog);
  EXPECT_TRUE(writer.Add(1, 1, 1, "payload").ok());
  EXPECT_TRUE(writer.Sync().ok());
  return root->ReadAll("log").value();
}

LogTail TailOf(const HugeLog& file) {
  RecordReader reader(file, kHuge, {kHugeLog, UINT64_MAX});
  Record record;
  EXPECT_TRUE(reader.Next(&record));
  EXPECT_FALSE(reader.Next(&record));
  return reader.tail();
}

TEST(HugeLogTest, AHoleBehindTheRecordsIsNotRead) {
  const HugeLog file(OneRecord(), '\0');
  EXPECT_EQ(TailOf(file).end, LogEnd::kClean);
  EXPECT_LT(file.read(), 64U << 20);
}

// More bad bytes than a log ever has unsynced are damage; the reader looks for no record after that many.
TEST(HugeLogTest, GarbageBehindTheRecordsIsDamageAndNotAllRead) {
  const HugeLog file(OneRecord(), '\xab');
  const LogTail tail = TailOf(file);
  EXPECT_EQ(tail.end, LogEnd::kDamage);
  EXPECT_EQ(tail.next_valid, 0U);
  EXPECT_LT(file.read(), 4ULL << 30);
}

}  // namespace
}  // namespace ratchet::io
