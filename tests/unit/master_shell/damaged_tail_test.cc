// The log of a dead server whose last record is invalid: it is cut if a crash has torn the record, and sealed in full
// length if a bit has flipped (S81: whole bad record is damage; S57: damaged log is split as far as readable).
#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "common/io/fenced_directory.h"
#include "common/io/record_log.h"
#include "master/storage/posix_cluster_files.h"
#include "tests/support/sim_disk.h"

namespace ratchet::master {
namespace {

const ServerName kDeadServer{"tail.example", 16020, 77};
constexpr const char* kTailLog = "log.0000000001";

class DamagedTailTest : public ::testing::Test {
 protected:
  DamagedTailTest() {
    auto opened = PosixClusterFiles::Open(*master_, "/root", [] { return Ok(); });
    EXPECT_TRUE(opened.ok());
    files_ = std::move(*opened);
    auto wals = server_->Open("/root/wals");
    auto mine = io::FencedDirectory::Make(**wals, kDeadServer.ToString());
    EXPECT_TRUE(mine.ok());
    auto file = (*mine)->directory().Create(kTailLog);
    io::RecordWriter log(std::move(*file), {'L', io::LogFileId(kDeadServer.ToString() + "/" + kTailLog)});
    for (std::uint64_t sequence = 1; sequence <= 2; ++sequence) {
      last_ = log.end_offset();
      EXPECT_TRUE(log.Add(1, 1, sequence, "acknowledged").ok());
      EXPECT_TRUE(log.Sync().ok());
    }
    end_ = log.end_offset();
    EXPECT_TRUE((*mine)->directory().Sync().ok());
    EXPECT_TRUE(files_->FenceLogsNow(kDeadServer).ok());
  }

  [[nodiscard]] std::string Path() const {
    return "/root/wals/" + kDeadServer.ToString() + io::kSplittingSuffix + "/" + kTailLog;
  }
  // Returns the end of the log's seal after `bytes` have been written at `at`.
  std::uint64_t SealedAfter(std::uint64_t at, const std::string& bytes) {
    EXPECT_TRUE(disk_.Overwrite(Path(), at, bytes).ok());
    const auto logs = files_->SealLogsNow(kDeadServer);
    EXPECT_TRUE(logs.ok() && logs->size() == 1);
    return logs.ok() && logs->size() == 1 ? logs->front().length : 0;
  }

  io::SimDisk disk_;
  std::unique_ptr<io::SimDisk::Process> master_ = disk_.NewProcess("master");
  std::unique_ptr<io::SimDisk::Process> server_ = disk_.NewProcess("server");
  std::unique_ptr<PosixClusterFiles> files_;
  std::uint64_t last_ = 0;
  std::uint64_t end_ = 0;
};

TEST_F(DamagedTailTest, AFlippedBitOfALogIsDamage) {
  EXPECT_EQ(SealedAfter(last_ + io::kRecordHeaderSize + 3, "X"), end_) << "its split will report the damage";
}

TEST_F(DamagedTailTest, WhatACrashHasTornIsCut) {
  EXPECT_EQ(SealedAfter(last_ + io::kRecordHeaderSize + 3, std::string(end_ - last_ - io::kRecordHeaderSize - 3, '\0')),
            last_);
}

TEST_F(DamagedTailTest, TakingItForTornIsNoticed) {
  const ScopedMutant mutant("log.any_tail");
  EXPECT_EQ(SealedAfter(last_ + io::kRecordHeaderSize + 3, "X"), last_) << "an acknowledged write is gone";
}

}  // namespace
}  // namespace ratchet::master
