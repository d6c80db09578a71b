// S96 (log chain): logs of one incarnation number their records in one sequence; where the numbers do not meet, records
// are missing.
#include "master/storage/log_chain.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "common/io/fenced_directory.h"
#include "common/io/record_log.h"
#include "master/storage/log_seal.h"
#include "tests/support/sim_disk.h"

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
    const auto logs = SealDirectory(*directory_, kDead, owner_);
    if (!logs.ok()) return logs.error().ToString();
    std::string text;
    for (const SealedLog& log : *logs) {
      if (log.missing && log.last_sequence == 0) {
        text += fmt::format("{}{} missing; ", log.meta ? "meta " : "", log.name.back());
      } else {
        text += fmt::format("{}{} to {}; ", log.name.back(), log.length == 0 ? " empty" : "", log.last_sequence);
      }
    }
    return text;
  }
  void Cut(std::uint64_t number, std::uint64_t length) { ASSERT_TRUE(directory_->Cut(LogName(number), length).ok()); }

  LogOwner owner_;
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

// S119 (made logs are required).
TEST_F(LogChainTest, ALogThatWasMadeIsExpected) {
  ASSERT_TRUE((*directory_->Create(io::MadeMark({"log", 4})))->Sync().ok());
  EXPECT_EQ(Sealed(), "1 to 2; 2 to 4; 3 to 6; ") << "the newest is there, and holds nothing";
  ASSERT_TRUE(directory_->Unlink(LogName(4)).ok());
  EXPECT_EQ(Sealed(), "1 to 2; 2 to 4; 3 to 6; 4 missing; ");
  ASSERT_TRUE((*directory_->Create(io::CoveredMark({"log", 4})))->Sync().ok());
  EXPECT_EQ(Sealed(), "") << "manifests cover all";
}

TEST_F(LogChainTest, TheFirstLogOfARegisteredServerIsExpected) {
  for (std::uint64_t number = 1; number <= 4; ++number) ASSERT_TRUE(directory_->Unlink(LogName(number)).ok());
  EXPECT_EQ(Sealed(), "") << "it may have died before it made one";
  owner_.registered = true;
  EXPECT_EQ(Sealed(), "1 missing; ");
  owner_.carried_meta = true;
  EXPECT_EQ(Sealed(), "1 missing; meta 1 missing; ");
  ASSERT_TRUE((*directory_->Create(io::CoveredMark({"log", 1})))->Sync().ok());
  EXPECT_EQ(Sealed(), "") << "it has written, and whether it had a log of hbase:meta is not known";
}

// Logs that manifests cover are removed from the front, so no record shows where the first of the others has to begin.
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

// S119, with the file system's own calls, as an operator makes the mark.
TEST(LogSealOnDiskTest, ALogThatAnOperatorHasAcceptedAsLostIsNotSealed) {
  const std::filesystem::path root = std::filesystem::temp_directory_path() / fmt::format("log_seal_{}", ::getpid());
  std::filesystem::remove_all(root);
  const auto directory = io::PosixDisk().OpenOrMake(root.string()).value();
  ASSERT_TRUE((*directory->Create(io::MadeMark({"log", 2})))->Sync().ok());
  const auto sealed = [&directory] {
    std::string text;
    const auto logs = SealDirectory(*directory, kDead);
    if (!logs.ok()) return logs.error().ToString();
    for (const SealedLog& log : *logs) text += log.name + (log.missing ? " missing; " : "; ");
    return text;
  };
  EXPECT_EQ(sealed(), "log.0000000001 missing; log.0000000002 missing; ");
  std::ofstream(root / "accepted.log.0000000002").close();
  EXPECT_EQ(sealed(), "log.0000000001 missing; ");
  std::ofstream(root / "accepted.log").close();
  std::ofstream(root / "accepted.log.1").close();
  EXPECT_EQ(sealed(), "log.0000000001 missing; ") << "marks of other names accept nothing";
  std::ofstream(root / "accepted.log.0000000001").close();
  EXPECT_EQ(sealed(), "");
  std::filesystem::remove_all(root);
}

#if defined(RATCHET_MUTANTS)
TEST_F(LogChainTest, TakingAMissingLogForNoneIsNoticed) {
  const ScopedMutant mutant("log.missing_is_none");
  ASSERT_TRUE((*directory_->Create(io::MadeMark({"log", 4})))->Sync().ok());
  ASSERT_TRUE(directory_->Unlink(LogName(4)).ok());
  EXPECT_EQ(Sealed(), "1 to 2; 2 to 4; 3 to 6; ");
}

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
