#include "master/storage/archive_cleaner.h"

#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "master/storage/directory_tools.h"
#include "tests/support/manual_time.h"
#include "tests/support/sim_disk.h"

namespace ratchet::master {
namespace {

class ArchiveCleanerTest : public ::testing::Test {
 protected:
  ArchiveCleanerTest() : process_(disk_.NewProcess()) {
    archive_ = process_->OpenOrMake("/archive").value();
    Put("1/wals/h,1,1-splitting");
    Put("1/data/default/t.7/region");
  }
  void Put(const std::string& path) { ASSERT_TRUE(EnsurePath(*archive_, path).ok()); }
  ArchiveCleaner Make() {
    return ArchiveCleaner(*archive_, time_, [this] { return owner_; }, {Millis{1000}});
  }
  bool There(const std::string& path) { return OpenPath(*archive_, path).ok(); }

  io::SimDisk disk_;
  std::unique_ptr<io::SimDisk::Process> process_;
  std::unique_ptr<io::Directory> archive_;
  ManualTime time_;
  Status owner_;
};

TEST_F(ArchiveCleanerTest, DeletesOnlyWhatAnEarlierRunNamed) {
  ArchiveCleaner cleaner = Make();
  EXPECT_TRUE(cleaner.RunOnce().value().empty()) << "the first look only names";
  Put("2/data/default/u.9");
  time_.Advance(Millis{1000});
  EXPECT_EQ(cleaner.RunOnce().value(), (std::vector<std::string>{"1/wals/h,1,1-splitting", "1/data/default/t.7"}));
  EXPECT_FALSE(There("1/data/default/t.7"));
  EXPECT_TRUE(There("2/data/default/u.9")) << "it was named by this run only";
  time_.Advance(Millis{1000});
  EXPECT_EQ(cleaner.RunOnce().value(), (std::vector<std::string>{"2/data/default/u.9"}));
}

TEST_F(ArchiveCleanerTest, EachRegionOfATableHasItsOwnTime) {
  ArchiveCleaner cleaner = Make();
  Put("1/regions/default/t.7/aaa");
  ASSERT_TRUE(cleaner.RunOnce().ok());
  Put("1/regions/default/t.7/bbb");
  time_.Advance(Millis{1000});
  ASSERT_TRUE(cleaner.RunOnce().ok());
  EXPECT_FALSE(There("1/regions/default/t.7/aaa"));
  EXPECT_TRUE(There("1/regions/default/t.7/bbb")) << "it was named by this run only";
  for (int run = 0; run < 3; ++run) {
    time_.Advance(Millis{1000});
    ASSERT_TRUE(cleaner.RunOnce().ok());
  }
  EXPECT_FALSE(There("1/regions/default/t.7")) << "the empty directory goes too";
}

#if defined(RATCHET_MUTANTS)
TEST_F(ArchiveCleanerTest, DeletingAtTheFirstLookIsNoticed) {
  const ScopedMutant mutant("cleaner.one_stage");
  EXPECT_FALSE(Make().RunOnce().value().empty());
}

TEST_F(ArchiveCleanerTest, DeletingWithoutCheckIsNoticed) {
  const ScopedMutant mutant("cleaner.no_check");
  ArchiveCleaner cleaner = Make();
  ASSERT_TRUE(cleaner.RunOnce().ok());
  time_.Advance(Millis{1000});
  owner_ = Error(Code::kFenced, "deposed");
  EXPECT_TRUE(cleaner.RunOnce().ok());
  EXPECT_FALSE(There("1/data/default/t.7"));
}
#endif

TEST_F(ArchiveCleanerTest, ADecisionDoesNotSurviveItsOwner) {
  ArchiveCleaner first = Make();
  ASSERT_TRUE(first.RunOnce().ok());
  time_.Advance(Millis{5000});
  ArchiveCleaner second = Make();  // the cleaner of another epoch decides again
  EXPECT_TRUE(second.RunOnce().value().empty());
  EXPECT_TRUE(There("1/data/default/t.7"));
}

TEST_F(ArchiveCleanerTest, WaitsForTheTimeToLive) {
  ArchiveCleaner cleaner = Make();
  ASSERT_TRUE(cleaner.RunOnce().ok());
  time_.Advance(Millis{999});
  EXPECT_TRUE(cleaner.RunOnce().value().empty());
  time_.Advance(Millis{1});
  EXPECT_EQ(cleaner.RunOnce().value().size(), 2u);
}

TEST_F(ArchiveCleanerTest, ADeposedOwnerDeletesNothing) {
  ArchiveCleaner cleaner = Make();
  ASSERT_TRUE(cleaner.RunOnce().ok());
  time_.Advance(Millis{1000});
  owner_ = Error(Code::kFenced, "deposed");
  process_->Trace(true);
  EXPECT_EQ(cleaner.RunOnce().error().code(), Code::kFenced);
  EXPECT_TRUE(There("1/data/default/t.7/region"));
  for (const io::SimEvent& event : process_->trace()) EXPECT_FALSE(io::Changes(event.op)) << event.ToString();
}

}  // namespace
}  // namespace ratchet::master
