// S96: logs of one life number their records in one row; where the numbers do not meet, records are missing.
#include "master/files/log_chain.h"

#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "common/io/fenced_directory.h"
#include "common/io/record_log.h"
#include "common/io/sim_disk.h"
#include "master/files/log_seal.h"

namespace ratchet::master {
namespace {

constexpr const char* kDead = "h,16020,100";

std::string LogName(std::uint64_t number) { return io::ToString(io::LogFileName{"log", number}); }

// Logs 1 to 3 of a dead server with the records 1 and 2, 3 and 4, 5 and 6; a fourth was prepared and never used.
class LogChainTest : public ::testing::Test {
 protected:
  LogChainTest() {
    directory_ = std::move(process_->OpenOrMake("/wals").value());
    std::uint64_t sequence = 0;
    for (std::uint64_t number = 1; number <= 3; ++number) {
      auto file = directory_->Create(LogName(number));
      io::RecordWriter log(std::move(*file), {'L', io::LogFileId(std::string(kDead) + "/" + LogName(number))});
      for (int record = 0; record < 2; ++record) {
        EXPECT_TRUE(log.Add(1, 1, ++sequence, "payload").ok());
        EXPECT_TRUE(log.Sync().ok());
        if (record == 0) after_one_[number] = log.durable_offset();
      }
    }
    EXPECT_TRUE((*directory_->Create(LogName(4)))->Sync().ok());
  }
  // "name:length is 0 or not:last" of each sealed log.
  std::string Sealed() {
    const auto logs = SealDirectory(*directory_, kDead);
    if (!logs.ok()) return logs.error().ToString();
    std::string text;
    for (const SealedLog& log : *logs)
      text += fmt::format("{}{} to {}; ", log.name.back(), log.length == 0 ? " empty" : "", log.last_sequence);
    return text;
  }
  void Cut(std::uint64_t number, std::uint64_t length) { ASSERT_TRUE(directory_->Cut(LogName(number), length).ok()); }

  io::SimDisk disk_;
  std::unique_ptr<io::SimDisk::Process> process_ = disk_.NewProcess("master");
  std::unique_ptr<io::Directory> directory_;
  std::map<std::uint64_t, std::uint64_t> after_one_;
};

TEST_F(LogChainTest, SoundLogsAreSealedAsTheyAre) { EXPECT_EQ(Sealed(), "1 to 2; 2 to 4; 3 to 6; "); }

TEST_F(LogChainTest, ALogThatWasCutBetweenTwoRecordsIsExpectedToGoOn) {
  Cut(2, after_one_[2]);
  EXPECT_EQ(Sealed(), "1 to 2; 2 to 4; 3 to 6; ") << "the split finds record 3 and expects 4";
}

TEST_F(LogChainTest, ALogThatWasEmptiedIsExpectedToHoldRecords) {
  Cut(2, 0);
  EXPECT_EQ(Sealed(), "1 to 2; 2 empty to 4; 3 to 6; ");
}

TEST_F(LogChainTest, TheFirstLogToo) {
  Cut(1, 0);
  EXPECT_EQ(Sealed(), "1 empty to 2; 2 to 4; 3 to 6; ");
}

TEST_F(LogChainTest, ALogThatIsGoneIsExpected) {
  ASSERT_TRUE(directory_->Unlink(LogName(2)).ok());
  EXPECT_EQ(Sealed(), "1 to 2; 2 empty to 4; 3 to 6; ");
  ASSERT_TRUE(directory_->Unlink(LogName(1)).ok());
  EXPECT_EQ(Sealed(), "1 empty to 4; 3 to 6; ");
}

// What manifests cover is taken from the front, so nothing tells where the first of the others has to begin.
TEST_F(LogChainTest, WhatIsCoveredMayBeGone) {
  ASSERT_TRUE(directory_->Unlink(LogName(1)).ok());
  ASSERT_TRUE((*directory_->Create(io::CoveredMark({"log", 1})))->Sync().ok());
  EXPECT_EQ(Sealed(), "2 to 4; 3 to 6; ");
}

// A preparation that failed leaves a file without a record, and its number.
TEST_F(LogChainTest, ALogThatWasNeverUsedIsNoLoss) {
  std::vector<MeasuredLog> logs;
  for (const std::uint64_t number : {1, 2, 4}) {
    MeasuredLog log;
    log.name = {"log", number};
    log.log.name = LogName(number);
    log.first_sequence = number == 2 ? 0 : number == 1 ? 1 : 6;
    log.log.last_sequence = number == 2 ? 0 : number == 1 ? 5 : 9;
    logs.push_back(log);
  }
  EXPECT_TRUE(ExpectMissingRecords(logs, 0).empty());
  EXPECT_EQ(logs.size(), 3U);
}

#if defined(RATCHET_MUTANTS)
TEST_F(LogChainTest, TakingAnyEndIsNoticed) {
  const ScopedMutant mutant("log.any_end");
  Cut(2, after_one_[2]);
  EXPECT_NE(Sealed(), "1 to 2; 2 to 4; 3 to 6; ");
  Cut(2, 0);
  EXPECT_EQ(Sealed(), "1 to 2; 3 to 6; ") << "what was acknowledged is lost without a word";
}
#endif

}  // namespace
}  // namespace ratchet::master
