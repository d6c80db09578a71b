// S35 (proof of a clean close) to S38 (no empty opening over data): from which parents a build may begin, and the fate
// of builds that end late, or not at all.
#include <utility>

#include "common/base/mutant.h"
#include "tests/unit/regionserver_engine/build_world.h"

namespace ratchet::regionserver {

TEST_F(BuildRegionsTest, AParentThatWasNotClosedIsNotBuiltFrom) {
  auto region = Open(*server, parent, 1).value();
  Write(*region, "b", "1");
  const BuildReport report = Build(10, {parent}, {left, right}).value();
  EXPECT_NE(report.not_clean.find("does not end with CLOSED"), std::string::npos) << report.not_clean;
  EXPECT_FALSE(region->CheckServing().ok()) << "it is sealed";
  const ScopedMutant mutant("build.any_close");
  EXPECT_EQ(Build(20, {parent}, {left, right}).value().not_clean, "") << "what the line above would notice";
}

TEST_F(BuildRegionsTest, AParentWithUncoveredEditsIsNotBuiltFrom) {
  server->region = Open(*server, parent, 1).value();
  Write(*server->region, "b", "1");
  auto second = std::move(world.Start("b,1,1")).value();
  // although the first server's log is not split: breaks S17 (answer or fence settles an order)
  Open(*second, parent, 2).value()->Close().value();
  server.reset();
  world.Recover("a,1,1").value();
  const BuildReport report = Build(10, {parent}, {left, right}).value();
  EXPECT_NE(report.not_clean.find("recovered edits"), std::string::npos) << report.not_clean;
  {
    const ScopedMutant mutant("build.ignore_edits");
    EXPECT_EQ(Build(20, {parent}, {left, right}).value().not_clean, "") << "what the line above would notice";
  }
  EXPECT_EQ(All(*Open(*second, parent, 30).value()), "b=1 ") << "the parent can be opened again";
}

TEST_F(BuildRegionsTest, EditsThatAreWhollyCoveredDoNotStopABuild) {
  auto region = Open(*server, parent, 1).value();
  Write(*region, "b", "1");
  region->Close().value();
  region.reset();
  server.reset();
  world.Recover("a,1,1").value();
  EXPECT_EQ(Build(10, {parent}, {left, right}).value().not_clean, "");
}

TEST_F(BuildRegionsTest, AnOpeningWithAnOlderNumberIsRefusedOnceTheRegionIsSealed) {
  MakeParent();
  MustBuild(10, {parent}, {left, right});
  const auto late = Open(*server, parent, 5);
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().code(), Code::kFenced);
  EXPECT_TRUE(Open(*server, parent, 11).ok()) << "after the build was given up";
}

TEST_F(BuildRegionsTest, WithoutTheSealAnOlderOpeningAcknowledgesWhatNoDaughterHas) {
  MakeParent();
  const ScopedMutant mutant("build.no_seal");
  MustBuild(10, {parent}, {left, right});
  auto late = Open(*server, parent, 5).value();
  Write(*late, "b", "2");
  EXPECT_EQ(All(*Open(*server, left, 11, 10).value()), "b=1 c=1 ");
}

TEST_F(BuildRegionsTest, ALateBuildChangesNothing) {
  MakeParent();
  MustBuild(20, {parent}, {left, right});
  auto a = Open(*server, left, 21, 20).value();
  Write(*a, "d", "1");
  const auto late = Build(10, {parent}, {left, right});
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().code(), Code::kFenced);
  a->Close().value();
  EXPECT_EQ(All(*Open(*server, left, 22).value()), "b=1 c=1 d=1 ");
}

// A worker that was abandoned after it had read its parent continues when a later one, which has read more, is done.
// Returns the rows of a daughter then.
std::string BuildRegionsTest::AfterALateWorker() {
  MakeParent();
  auto late = world.disk.NewProcess("late");
  bool done = false;
  late->SetHook([&](const io::SimEvent& event) {
    if (event.op == io::SimOp::kSyncDirectory && event.path == PathOf(left) && !std::exchange(done, true)) {
      auto again = Open(*server, parent, 15).value();
      Write(*again, "d", "1");
      again->Close().value();
      MustBuild(20, {parent}, {left, right});
    }
    return io::SimVerdict::Proceed();
  });
  EXPECT_TRUE(Build(10, {parent}, {left, right}, late.get()).ok());
  const auto opened = Open(*server, left, 21);
  return opened.ok() ? All(**opened) : "damaged";  // S92 (leftover store files are proven) sees that a row is missing
}

TEST_F(BuildRegionsTest, ABuildThatEndsLateReplacesNothing) { EXPECT_EQ(AfterALateWorker(), "b=1 c=1 d=1 "); }

TEST_F(BuildRegionsTest, WithoutNumbersABuildThatEndsLateLosesARow) {
  const ScopedMutant mutant("build.one_name");
  EXPECT_EQ(AfterALateWorker(), "damaged");
}

TEST_F(BuildRegionsTest, ADaughterNeverOpensEmpty) {
  MakeParent();
  const auto nothing_there = Open(*server, left, 11, 10);
  ASSERT_FALSE(nothing_there.ok());
  EXPECT_EQ(nothing_there.error().code(), Code::kCorruption);
  EXPECT_NE(nothing_there.error().message().find("manifest.10"), std::string::npos) << nothing_there.error().message();
  MustBuild(10, {parent}, {left, right});
  EXPECT_FALSE(Open(*server, left, 15, 12).ok()) << "an older build is not the one that the master means";
  const ScopedMutant mutant("region.any_build");
  EXPECT_TRUE(Open(*server, right, 16, 12).ok()) << "what the line above would notice";
}

TEST_F(BuildRegionsTest, AFileThatCanHaveNoFurtherNameIsCopied) {
  MakeParent();
  auto process = world.disk.NewProcess("b");
  process->SetHook([](const io::SimEvent& event) {
    return event.op == io::SimOp::kLink ? io::SimVerdict::Fail(Code::kUnavailable) : io::SimVerdict::Proceed();
  });
  EXPECT_EQ(Build(10, {parent}, {left, right}, process.get()).value().files, 4U);
  world.disk.PowerFailure();
  server = std::move(world.Start("b,1,1")).value();
  EXPECT_EQ(All(*Open(*server, left, 11, 10).value()), "b=1 c=1 ");
}

TEST_F(BuildRegionsTest, AFamilyThatWasDroppedAndAddedAgainStaysEmpty) {
  MakeParent();
  world.table.families.front().added_by = 9;  // f is another family now
  MustBuild(10, {parent}, {left, right});
  EXPECT_EQ(All(*Open(*server, left, 11, 10).value()), "");
}

// Power fails, or the worker dies, at each of its operations; another worker repeats all of them.
TEST_F(BuildRegionsTest, AWorkerMayDieAtEachOperation) {
  std::uint64_t number = 100;
  std::size_t operations = 0;
  for (bool done = false; !done && !HasFailure(); ++operations) {
    for (const bool power : {false, true}) {
      parent.region_id = number;
      MakeParent();
      const RegionInfo a = Child("", "m", number + 1);
      const RegionInfo b = Child("m", "", number + 1);
      for (const RegionInfo& region : {a, b}) {
        world.info = region;
        world.Format().value();
      }
      auto process = world.disk.NewProcess("w");
      std::size_t seen = 0;
      process->SetHook([&](const io::SimEvent&) {
        return seen++ == operations ? io::SimVerdict::CrashBefore() : io::SimVerdict::Proceed();
      });
      const auto first = Build(number + 1, {parent}, {a, b}, process.get());
      done = seen <= operations;
      if (power) {
        world.disk.PowerFailure();
        server = std::move(world.Start(fmt::format("s{},1,{}", number, number))).value();
        worker = world.disk.NewProcess("worker");
      }
      std::uint64_t built = number + 1;
      if (!first.ok()) {
        built = number + 2;
        ASSERT_EQ(Build(built, {parent}, {a, b}).value().not_clean, "") << operations;
      }
      EXPECT_EQ(All(*Open(*server, a, number + 3, built).value()), "b=1 c=1 ") << operations;
      EXPECT_EQ(All(*Open(*server, b, number + 4, built).value()), "x=1 y=1 ") << operations;
      number += 10;
      world.ForgetDeath();
    }
  }
  EXPECT_GT(operations, 25U);
}

}  // namespace ratchet::regionserver
