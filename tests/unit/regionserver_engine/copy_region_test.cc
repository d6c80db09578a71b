// S46 (source of a snapshot part): the data of a snapshot's part, and the initial data of a region that is made from
// it.
#include "regionserver/region/copy_region.h"

#include <gmock/gmock.h>

#include "common/base/fault_point.h"
#include "common/base/mutant.h"
#include "tests/unit/regionserver_engine/build_world.h"

namespace ratchet::regionserver {
namespace {

class CopyRegionTest : public BuildRegionsTest {
 protected:
  void SetUp() override {
    BuildRegionsTest::SetUp();
    part = Child("", "", 30);  // its directory acts as the part's
    clone = Child("", "", 31);
    world.info = clone;
    world.Format().value();
    part_directory = std::move(worker->Open(PathOf(part))).value();
  }
  CopyTarget PartNumbered(std::uint64_t number) { return {number, parent, part_directory.get(), world.table.families}; }
  Result<CopyReport> CopyClosed(std::uint64_t number, const RegionPast& past = {true, 0}) {
    RATCHET_ASSIGN(const auto directory, worker->Open(PathOf(parent)));
    return CopyClosedRegion(parent, *directory, past, PartNumbered(number));
  }
  // Returns the content of the part, as a region made from it shows it.
  std::string InClone(std::uint64_t part_number, std::uint64_t number) {
    auto directory = worker->Open(PathOf(clone)).value();
    const auto copied =
        CopyPart(parent, *part_directory, part_number, {number, clone, directory.get(), world.table.families});
    if (!copied.ok()) return copied.error().ToString();
    auto region = Open(*server, clone, number + 1, number).value();
    EXPECT_GT(region->first_sequence(), copied->sequence);
    return All(*region);
  }

  RegionInfo part, clone;
  std::unique_ptr<io::Directory> part_directory;
};

TEST_F(CopyRegionTest, APartHoldsWhatWasAcknowledgedBefore) {
  auto region = Open(*server, parent, 1).value();
  Write(*region, "b", "1");
  region->Flush().value();
  Write(*region, "c", "1");
  const CopyReport report = region->CopyTo(true, PartNumbered(10)).value();
  EXPECT_EQ(report.files, 2U);
  EXPECT_GT(report.bytes, 0U);
  Write(*region, "b", "2");
  region->Compact(true).value();
  EXPECT_EQ(InClone(10, 20), "b=1 c=1 ");
  EXPECT_EQ(All(*region), "b=2 c=1 ");
  Write(*region, "d", "1");
  const ScopedMutant mutant("copy.no_flush");
  ASSERT_TRUE(region->CopyTo(true, PartNumbered(11)).ok());
  EXPECT_EQ(InClone(11, 30), "b=2 c=1 ") << "what the first comparison would notice: d is missing";
}

// The disk was full for a while. The next flush first writes the data that the failed flush has kept.
TEST_F(CopyRegionTest, APartHoldsWhatWasWrittenAfterAFlushThatFailed) {
  auto region = Open(*server, parent, 1).value();
  const auto write_around_a_failed_flush = [&](const std::string& aside, const std::string& later) {
    Write(*region, aside, "1");
    FaultSpec fails;
    fails.action = FaultAction::kFail;
    FaultPoints::Instance().Arm("region.file_written", fails);
    EXPECT_FALSE(region->Flush().ok());
    FaultPoints::Instance().DisarmAll();
    Write(*region, later, "1");
  };
  write_around_a_failed_flush("b", "c");
  ASSERT_TRUE(region->CopyTo(true, PartNumbered(10)).ok());
  EXPECT_EQ(InClone(10, 20), "b=1 c=1 ");
  write_around_a_failed_flush("d", "e");
  const ScopedMutant mutant("region.flush_what_stands_aside");
  ASSERT_TRUE(region->CopyTo(true, PartNumbered(11)).ok());
  EXPECT_EQ(InClone(11, 30), "b=1 c=1 d=1 ") << "what the first comparison would notice: e is missing";
}

TEST_F(CopyRegionTest, WithoutAFlushItHoldsWhatIsInFiles) {
  auto region = Open(*server, parent, 1).value();
  Write(*region, "b", "1");
  region->Flush().value();
  Write(*region, "c", "1");
  ASSERT_TRUE(region->CopyTo(false, PartNumbered(10)).ok());
  EXPECT_EQ(InClone(10, 20), "b=1 ");
}

TEST_F(CopyRegionTest, APartOutlivesItsRegionAndAPowerFailure) {
  auto region = Open(*server, parent, 1).value();
  Write(*region, "b", "1");
  ASSERT_TRUE(region->CopyTo(true, PartNumbered(10)).ok());
  region.reset();
  world.disk.PowerFailure();
  server = std::move(world.Start("b,1,1")).value();
  worker = world.disk.NewProcess("another worker");
  part_directory = std::move(worker->Open(PathOf(part))).value();
  auto directory = worker->Open(PathOf(parent)).value();
  const std::vector<std::string> names = directory->List().value();
  for (const std::string& name : names) directory->Unlink(name).value();
  EXPECT_EQ(InClone(10, 20), "b=1 ");
}

TEST_F(CopyRegionTest, AClosedRegionIsCopiedFromTheManifestThatSaysSo) {
  MakeParent();
  const CopyReport report = CopyClosed(10).value();
  EXPECT_EQ(report.not_ready, "");
  EXPECT_EQ(InClone(10, 20), "b=1 c=1 x=1 y=1 ");
  EXPECT_EQ(All(*Open(*server, parent, 5).value()), "b=1 c=1 x=1 y=1 ") << "it was not sealed";
}

// The region's server has died, and its log is not split yet.
TEST_F(CopyRegionTest, ARegionThatAwaitsItsServersLogIsNotCopied) {
  auto region = Open(*server, parent, 1).value();
  Write(*region, "b", "1");
  region->Flush().value();
  Write(*region, "c", "1");
  EXPECT_THAT(CopyClosed(10).value().not_ready, ::testing::HasSubstr("does not end with CLOSED"));
  EXPECT_THAT(InClone(10, 20), ::testing::HasSubstr("the part of a snapshot"));
  const ScopedMutant mutant("copy.any_manifest");
  EXPECT_EQ(CopyClosed(11).value().not_ready, "");
  EXPECT_EQ(InClone(11, 30), "b=1 ") << "what the lines above would notice: c is lost";
}

TEST_F(CopyRegionTest, ARegionThatWasNeverOpenIsEmpty) {
  EXPECT_EQ(CopyClosed(10, {false, 0}).value().not_ready, "");
  EXPECT_EQ(InClone(10, 20), "");
  EXPECT_NE(CopyClosed(11, {true, 0}).value().not_ready, "") << "some manifest must be there";
}

TEST_F(CopyRegionTest, ARegionThatABuildHasMadeIsCopiedBeforeItsFirstOpening) {
  MakeParent();
  MustBuild(10, {parent}, {left, right});
  auto directory = worker->Open(PathOf(left)).value();
  const auto copied =
      CopyClosedRegion(left, *directory, {false, 10}, {12, left, part_directory.get(), world.table.families});
  EXPECT_EQ(copied.value().not_ready, "");
  EXPECT_EQ(copied.value().files, 2U);
}

// The number in the order, not the newest, decides which copy counts.
TEST_F(CopyRegionTest, ALateCopyDoesNotTouchTheOneThatCounts) {
  auto region = Open(*server, parent, 1).value();
  Write(*region, "b", "1");
  ASSERT_TRUE(region->CopyTo(true, PartNumbered(10)).ok());
  Write(*region, "b", "2");
  ASSERT_TRUE(region->CopyTo(true, PartNumbered(11)).ok());
  EXPECT_EQ(InClone(10, 20), "b=1 ");
}

}  // namespace
}  // namespace ratchet::regionserver
