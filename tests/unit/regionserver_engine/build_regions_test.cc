// S39 (children inherit from all parents) and S44 (own name for each file): what regions inherit from the regions that
// they are made from.
#include "common/base/mutant.h"
#include "regionserver/store/manifest.h"
#include "regionserver/store/row_samples.h"
#include "tests/unit/regionserver_engine/build_world.h"

namespace ratchet::regionserver {
namespace {

TEST_F(BuildRegionsTest, ASplitGivesEachDaughterItsRows) {
  MakeParent();
  const BuildReport report = Build(10, {parent}, {left, right}).value();
  EXPECT_EQ(report.not_clean, "");
  EXPECT_EQ(report.files, 4U);
  world.disk.PowerFailure();
  server = std::move(world.Start("b,1,1")).value();
  auto a = Open(*server, left, 11, 10).value();
  auto b = Open(*server, right, 12, 10).value();
  EXPECT_EQ(All(*a), "b=1 c=1 ");
  EXPECT_EQ(All(*b), "x=1 y=1 ");
  EXPECT_EQ(world.Read(*a, "b", "q").value(), "1");
  EXPECT_GT(a->first_sequence(), report.sequence);
  ScanSpec backwards;
  backwards.reversed = true;
  EXPECT_EQ(world.ScanAll(*b, backwards).value().front().row, "y");
  EXPECT_EQ(world.ScanAll(*a, backwards).value().front().row, "c");
  a->Compact(true).value();
  EXPECT_EQ(All(*a), "b=1 c=1 ");
  const ScopedMutant mutant("store.any_range");
  EXPECT_EQ(All(*b), "b=1 c=1 x=1 y=1 ") << "what the lines above would notice";
}

TEST_F(BuildRegionsTest, ARegionKnowsWhereItsMiddleIs) {
  auto region = Open(*server, parent, 1).value();
  EXPECT_EQ(region->SplitRow(), "") << "it has no files";
  for (int i = 0; i < 1000; ++i) Write(*region, fmt::format("{:04}", i), "value");
  region->Flush().value();
  const std::string middle = region->SplitRow();
  EXPECT_GT(middle, "0400");
  EXPECT_LT(middle, "0600");
  region->Close().value();
  MustBuild(10, {parent}, {left, right});
  auto a = Open(*server, left, 11, 10).value();
  EXPECT_EQ(a->SplitRow(), middle) << "all rows are there";
  EXPECT_EQ(Open(*server, right, 12, 10).value()->SplitRow(), "") << "no row is";
}

TEST(RowSamplesTest, HaveABoundAndAreSpreadEvenly) {
  RowSamples samples;
  for (int i = 0; i < 100'000; ++i) samples.Add(fmt::format("{:06}", i), 10);
  const std::vector<std::string> rows = DecodeRowSamples(samples.Encode());
  ASSERT_GE(rows.size(), RowSamples::kMost / 2);
  ASSERT_LE(rows.size(), RowSamples::kMost);
  EXPECT_NEAR(std::stoi(rows[rows.size() / 2]), 50'000, 5'000);
  RowSamples one;
  for (int i = 0; i < 1000; ++i) one.Add(std::string(1000, 'r'), 100);
  EXPECT_EQ(DecodeRowSamples(one.Encode()), std::vector<std::string>{std::string(RowSamples::kLongest, 'r')});
  EXPECT_TRUE(DecodeRowSamples("\xff").empty());
}

TEST_F(BuildRegionsTest, TheDaughtersDoNotMindWhatBecomesOfTheParentsFiles) {
  MakeParent();
  MustBuild(10, {parent}, {left, right});
  auto directory = worker->Open(PathOf(parent)).value();
  const std::vector<std::string> names = directory->List().value();
  for (const std::string& name : names) directory->Unlink(name).value();
  auto b = Open(*server, right, 12, 10).value();
  EXPECT_EQ(All(*b), "x=1 y=1 ");
}

TEST_F(BuildRegionsTest, ADaughterIsSplitAtOnceAndMergedWithItsNeighbour) {
  MakeParent();
  MustBuild(10, {parent}, {left, right});
  for (const auto& [region, opening] : {std::pair{left, 11}, std::pair{right, 12}})
    Open(*server, region, static_cast<std::uint64_t>(opening), 10).value()->Close().value();
  const RegionInfo b = Child("", "c", 40);
  const RegionInfo c = Child("c", "m", 40);
  for (const RegionInfo& region : {b, c}) {
    world.info = region;
    world.Format().value();
  }
  MustBuild(40, {left}, {b, c});
  Open(*server, c, 41, 40).value()->Close().value();
  const RegionInfo merged = Child("c", "", 50);
  world.info = merged;
  world.Format().value();
  MustBuild(50, {c, right}, {merged});
  EXPECT_EQ(All(*Open(*server, merged, 51, 50).value()), "c=1 x=1 y=1 ");
  EXPECT_EQ(All(*Open(*server, b, 42, 40).value()), "b=1 ");
}

// One daughter compacts a row and the delete that hides it away; the other one's file still has the row.
TEST_F(BuildRegionsTest, ADeletedRowStaysAwayAfterAMerge) {
  MakeParent();
  MustBuild(10, {parent}, {left, right});
  auto a = Open(*server, left, 11, 10).value();
  EXPECT_TRUE(world.Mutate(*a, DeleteRow("b"))->ok());
  a->Compact(true).value();
  EXPECT_EQ(All(*a), "c=1 ");
  a->Close().value();
  Open(*server, right, 12, 10).value()->Close().value();
  const RegionInfo merged = Child("", "", 30);
  MustBuild(30, {left, right}, {merged});
  EXPECT_EQ(All(*Open(*server, merged, 31, 30).value()), "c=1 x=1 y=1 ");
  const RegionInfo widened = Child("", "", 60);
  world.info = widened;
  world.Format().value();
  const ScopedMutant mutant("build.widen_ranges");
  MustBuild(60, {left, right}, {widened});
  EXPECT_EQ(All(*Open(*server, widened, 61, 60).value()), "b=1 c=1 x=1 y=1 ") << "what the line above would notice";
}

TEST_F(BuildRegionsTest, AMergedRegionGoesOnAboveEveryParentsSequence) {
  Open(*server, left, 1).value()->Close().value();
  auto b = Open(*server, right, 2).value();
  for (int i = 0; i < 20; ++i) Write(*b, "x", fmt::format("{}", i), 500);
  b->Close().value();
  const auto read_after_merge = [&](std::uint64_t number) {
    const RegionInfo merged = Child("", "", number);
    world.info = merged;
    world.Format().value();
    MustBuild(number, {left, right}, {merged});
    auto region = Open(*server, merged, number + 1, number).value();
    const std::string found = world.Read(*region, "x", "q").value();
    Write(*region, "x", "newest", 500);
    return found + " " + world.Read(*region, "x", "q").value();
  };
  EXPECT_EQ(read_after_merge(70), "19 newest");
  const ScopedMutant mutant("build.first_parents_sequence");
  EXPECT_EQ(read_after_merge(80), " newest") << "what the line above would notice";
}

TEST_F(BuildRegionsTest, ARetryWithItsNonceIsKnownInTheDaughter) {
  auto region = Open(*server, parent, 1).value();
  EXPECT_TRUE(world.Mutate(*region, Increment("b", "q", 1, Nonce{1, 2, {}}))->ok());
  region->Close().value();
  const auto counted = [&](std::uint64_t number) {
    MustBuild(number, {parent}, {left, right});
    auto a = Open(*server, left, number + 1, number).value();
    IgnoreResult(world.Mutate(*a, Increment("b", "q", 1, Nonce{1, 2, {}})).value(), "refused as known, or done twice");
    GetSpec get;
    get.row = "b";
    std::int64_t count = 0;
    EXPECT_TRUE(DecodeInt64(a->Get(get).value().front().value, count));
    return count;
  };
  EXPECT_EQ(counted(10), 1);
  const ScopedMutant mutant("build.forget_nonces");
  EXPECT_EQ(counted(20), 2) << "what the line above would notice";
}

TEST_F(BuildRegionsTest, SplitsAndMergesInTurnDoNotMultiplyWhatIsKnownOfNonces) {
  auto region = Open(*server, parent, 1).value();
  EXPECT_TRUE(world.Mutate(*region, Increment("b", "q", 1, Nonce{1, 2, {}}))->ok());
  EXPECT_TRUE(world.Mutate(*region, Increment("x", "q", 1, Nonce{1, 3, {}}))->ok());
  region->Close().value();
  RegionInfo whole = parent;
  std::uint64_t number = 100;
  for (int turn = 0; turn < 5; ++turn, number += 10) {
    const std::vector<RegionInfo> halves{Child("", "m", number), Child("m", "", number)};
    const RegionInfo merged = Child("", "", number + 5);
    for (const RegionInfo& made : {halves[0], halves[1], merged}) {
      world.info = made;
      world.Format().value();
    }
    MustBuild(number, {whole}, halves);
    for (const RegionInfo& half : halves) Open(*server, half, number + 1, number).value()->Close().value();
    MustBuild(number + 5, halves, {merged});
    Open(*server, merged, number + 6, number + 5).value()->Close().value();
    whole = merged;
  }
  auto directory = worker->Open(PathOf(whole)).value();
  const auto names = directory->List().value();
  const auto newest = NewestState(*directory, names, whole.encoded_name(), number + 100).value();
  ASSERT_TRUE(newest.has_value());
  EXPECT_EQ(newest->state.nonces.size(), 2U);
}

}  // namespace
}  // namespace ratchet::regionserver
