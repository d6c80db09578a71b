// The cleaner's first stage (S32: two-stage cleaner): the files that it moves and those that it leaves, and that it may
// come late.
#include "master/storage/retirement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/core.h>

#include "common/base/mutant.h"
#include "common/io/unneeded_files.h"
#include "master/storage/archive_cleaner.h"
#include "master/storage/directory_tools.h"
#include "master/storage/file_retirer.h"
#include "tests/support/manual_time.h"
#include "tests/support/sim_disk.h"

namespace ratchet::master {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST(RetirementTest, LogsUpToTheMark) {
  EXPECT_THAT(LogsToRetire({"ALIVE", "covered.log.0000000002", "log.0000000001", "log.0000000002", "log.0000000003",
                            "meta.0000000001"}),
              ElementsAre("log.0000000001", "log.0000000002"));
  EXPECT_THAT(LogsToRetire({"ALIVE", "log.0000000001", "split.log.0000000001"}), IsEmpty());
}

TEST(RetirementTest, OnlyFilesThatTheirOwnerHasGivenUp) {
  EXPECT_THAT(
      RegionFilesToRetire(
          {"1-1.sst", "manifest.1", "unneeded.1-2.sst", "edits.h,1,1.log.0000000001", "unneeded.manifest.0"}),
      ElementsAre(RetiredName{"unneeded.1-2.sst", "1-2.sst"}, RetiredName{"unneeded.manifest.0", "manifest.0"}));
}

TEST(RetirementTest, WhatASplitterLeftBehindNamesItsServer) {
  EXPECT_EQ(SplitServerOf("tmp.edits.rs.example.org,16020,77.log.0000000003.0123456789abcdef"),
            (ServerName{"rs.example.org", 16020, 77}));
  EXPECT_EQ(SplitServerOf("tmp.edits.h,1,2.meta.0000000001.0123456789abcdef"), (ServerName{"h", 1, 2}));
  for (const char* other :
       {"edits.h,1,2.log.0000000003", "tmp.edits.h,1,2.log.0000000003", "tmp.edits.", "tmp.edits.x", "tmp.1-1.sst", ""})
    EXPECT_FALSE(SplitServerOf(other)) << other;
  EXPECT_TRUE(SplitIsOver({"h", 1, 2}, {"h,1,3", "h,1,1-splitting"}));
  EXPECT_FALSE(SplitIsOver({"h", 1, 2}, {"h,1,2-splitting"}));
  EXPECT_FALSE(SplitIsOver({"h", 1, 2}, {"h,1,2"}));
}

class FileRetirerTest : public ::testing::Test {
 protected:
  FileRetirerTest() : process_(disk_.NewProcess()) {
    wals_ = process_->OpenOrMake("/wals").value();
    data_ = process_->OpenOrMake("/data").value();
    archive_ = process_->OpenOrMake("/archive").value();
    for (const char* file : {"ALIVE", "covered.log.0000000002", "log.0000000001", "log.0000000002", "log.0000000003"})
      Put(std::string("/wals/h,1,1/") + file);
    Put("/data/default/t.7/desc.7");
    for (const char* file : {"manifest.9", "9-1.sst", "unneeded.8-1.sst", "edits.h,1,1.log.0000000001"})
      Put(std::string("/data/default/t.7/aaa/") + file);
  }
  void Put(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    auto directory = process_->OpenOrMake(path.substr(0, slash)).value();
    auto file = directory->Create(path.substr(slash + 1)).value();
    ASSERT_TRUE(file->Append("content").ok() && file->Sync().ok() && directory->Sync().ok());
  }
  std::vector<std::string> In(const std::string& path) {
    const auto directory = process_->Open(path);
    return directory.ok() ? (*directory)->List().value() : std::vector<std::string>{"(no directory)"};
  }
  FileRetirer Make() {
    return FileRetirer({*wals_, *data_, *archive_, Epoch(4), [this] { return owner_; },
                        [this](const ServerName& server) { return server == alive_; }});
  }
  std::vector<std::string> Run() { return Make().RunOnce().value(); }

  io::SimDisk disk_;
  std::unique_ptr<io::SimDisk::Process> process_;
  std::unique_ptr<io::Directory> wals_;
  std::unique_ptr<io::Directory> data_;
  std::unique_ptr<io::Directory> archive_;
  ServerName alive_{"h", 1, 1};
  Status owner_;
};

TEST_F(FileRetirerTest, MovesWhatNobodyNeedsIntoTheArchiveOfTheEpoch) {
  EXPECT_THAT(Run(), ElementsAre("wals/h,1,1/log.0000000001", "wals/h,1,1/log.0000000002",
                                 "data/default/t.7/aaa/unneeded.8-1.sst"));
  disk_.PowerFailure();
  process_ = disk_.NewProcess();
  EXPECT_THAT(In("/wals/h,1,1"), UnorderedElementsAre("ALIVE", "covered.log.0000000002", "log.0000000003"));
  EXPECT_THAT(In("/archive/4/files/wals/h,1,1"), ElementsAre("log.0000000001", "log.0000000002"));
  EXPECT_THAT(In("/archive/4/files/data/default/t.7/aaa"), ElementsAre("8-1.sst"));
  EXPECT_THAT(In("/data/default/t.7/aaa"), ElementsAre("9-1.sst", "edits.h,1,1.log.0000000001", "manifest.9"));
  EXPECT_THAT(In("/data/default/t.7"), ElementsAre("aaa", "desc.7"));
}

TEST_F(FileRetirerTest, WithNothingToDoItChangesNothing) {
  Run();
  process_->Trace(true);
  EXPECT_THAT(Run(), IsEmpty());
  EXPECT_THAT(process_->trace(), IsEmpty());
}

// S3 (durable fence mark): another process made the marks, and a splitter that misses a log must find them.
TEST_F(FileRetirerTest, TheMarksAreDurableBeforeAnythingMoves) {
  process_->Trace(true);
  Run();
  bool synced = false;
  for (const io::SimEvent& event : process_->trace()) {
    synced = synced || (event.op == io::SimOp::kSyncDirectory && event.path == "/wals/h,1,1");
    EXPECT_TRUE(synced || event.op != io::SimOp::kRename) << event.ToString();
  }
  EXPECT_TRUE(synced);
}

std::vector<std::string> LogsTakenOfACrashedServer(std::vector<std::string> moved) {
  std::erase_if(moved, [](const std::string& path) { return !path.starts_with("wals/"); });
  return moved;
}

TEST_F(FileRetirerTest, LogsOfAServerWithACrashProcedureAreLeftAlone) {
  alive_ = {};
  EXPECT_THAT(LogsTakenOfACrashedServer(Run()), IsEmpty());
  ASSERT_TRUE(wals_->Rename("h,1,1", "h,1,1-splitting").ok());
  EXPECT_THAT(LogsTakenOfACrashedServer(Run()), IsEmpty());
}

TEST_F(FileRetirerTest, ACrashInTheMiddleStopsIt) {
  int moves = 0;
  process_->SetHook([&](const io::SimEvent& event) {
    if (event.op == io::SimOp::kRename && ++moves == 1) alive_ = {};
    return io::SimVerdict::Proceed();
  });
  EXPECT_THAT(LogsTakenOfACrashedServer(Run()), ElementsAre("wals/h,1,1/log.0000000001"));
}

TEST_F(FileRetirerTest, ADeposedMasterMovesNothing) {
  owner_ = Error(Code::kFenced, "deposed");
  process_->Trace(true);
  EXPECT_EQ(Make().RunOnce().error().code(), Code::kFenced);
  for (const io::SimEvent& event : process_->trace())
    EXPECT_EQ(event.op, io::SimOp::kSyncDirectory) << event.ToString();
}

TEST_F(FileRetirerTest, WhatASplitterLeftGoesWhenTheLogsAreRetired) {
  const std::string left = "tmp.edits.h,1,1.log.0000000003.0123456789abcdef";
  Put("/data/default/t.7/aaa/" + left);
  EXPECT_EQ(Run().size(), 3U) << "the server is there, dead or alive";
  ASSERT_TRUE(wals_->Rename("h,1,1", "gone").ok());
  EXPECT_THAT(Run(), ElementsAre("data/default/t.7/aaa/" + left));
}

// Each run lists a bounded number of directories; together the runs reach all of them, also after one that cannot be
// read.
TEST_F(FileRetirerTest, ARunListsABoundedNumberOfRegionsAndTheNextGoesOn) {
  constexpr std::size_t kMost = 5;
  for (const char* table : {"a.1", "b.2", "c.3"})
    for (int region = 0; region < 6; ++region)
      Put(fmt::format("/data/default/{}/region{}/unneeded.1-1.sst", table, region));
  Put("/data/other/d.4/region/unneeded.1-1.sst");
  std::size_t listings = 0;
  process_->SetHook([&](const io::SimEvent& event) {
    const bool below_a_table = event.path.find("/data/default/") == 0 || event.path.find("/data/other/") == 0;
    if (event.op == io::SimOp::kList && below_a_table) ++listings;
    const bool unreadable = event.op == io::SimOp::kList && event.path.ends_with("b.2/region3");
    return unreadable ? io::SimVerdict::Fail(Code::kIo) : io::SimVerdict::Proceed();
  });
  FileRetirer retirer(
      {*wals_, *data_, *archive_, Epoch(4), [] { return Ok(); }, [](const ServerName&) { return false; }, kMost});
  std::size_t runs = 0;
  const auto left = [this] {
    std::size_t count = 0;
    for (const char* table : {"a.1", "b.2", "c.3"})
      for (int region = 0; region < 6; ++region) {
        const auto directory = process_->Open(fmt::format("/data/default/{}/region{}", table, region)).value();
        count += directory->Exists("unneeded.1-1.sst").value() ? 1 : 0;
      }
    return count + (process_->Open("/data/other/d.4/region").value()->Exists("unneeded.1-1.sst").value() ? 1 : 0);
  };
  for (; left() > 1 && runs < 20; ++runs) {
    listings = 0;
    static_cast<void>(retirer.RunOnce());  // one run fails
    EXPECT_LE(listings, kMost) << "run " << runs;
  }
  EXPECT_EQ(left(), 1U);  // the unreadable ones
  EXPECT_LT(runs, 10U);
  process_->SetHook({});
  for (; left() > 0 && runs < 30; ++runs) ASSERT_TRUE(retirer.RunOnce().ok());  // found when the walk starts over
  EXPECT_EQ(left(), 0U);
}

TEST_F(FileRetirerTest, SingleFilesAreDeletedAfterTheirOwnTimeToLive) {
  ManualTime time;
  ArchiveCleaner cleaner(*archive_, time, [this] { return owner_; }, {Millis{1000}});
  Run();
  EXPECT_THAT(cleaner.RunOnce().value(), IsEmpty()) << "the first look only names";
  time.Advance(Millis{1000});
  Put("/data/default/t.7/aaa/unneeded.8-2.sst");
  Run();
  EXPECT_THAT(cleaner.RunOnce().value(),
              UnorderedElementsAre("4/files/wals/h,1,1/log.0000000001", "4/files/wals/h,1,1/log.0000000002",
                                   "4/files/data/default/t.7/aaa/8-1.sst"));
  EXPECT_THAT(In("/archive/4/files/data/default/t.7/aaa"), ElementsAre("8-2.sst")) << "it came later";
  for (int level = 0; level < 10; ++level) {
    time.Advance(Millis{1000});
    ASSERT_TRUE(cleaner.RunOnce().ok());
  }
  EXPECT_THAT(In("/archive/4/files"), IsEmpty()) << "directories go when they are empty";
}

#if defined(RATCHET_MUTANTS)
TEST_F(FileRetirerTest, TakingLogsOfTheCrashedIsNoticed) {
  const ScopedMutant mutant("cleaner.logs_of_the_crashed");
  alive_ = {};
  EXPECT_FALSE(LogsTakenOfACrashedServer(Run()).empty());
}

TEST_F(FileRetirerTest, TakingUncoveredLogsIsNoticed) {
  const ScopedMutant mutant("cleaner.uncovered_logs");
  EXPECT_THAT(LogsTakenOfACrashedServer(Run()).size(), 3U);
}
#endif

}  // namespace
}  // namespace ratchet::master
