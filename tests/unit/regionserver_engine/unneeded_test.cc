// S32 (two-stage cleaner), the owners' side: a file that is declared unneeded stays so for every later opening. The
// declaration comes neither too early nor from the wrong opening.
#include "regionserver/store/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/fault_point.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/io/unneeded_files.h"
#include "tests/support/expect_killed.h"
#include "tests/unit/regionserver_engine/engine_world.h"

namespace ratchet::regionserver {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

constexpr const char* kFirst = "a,1,1";
constexpr const char* kSecond = "b,1,1";

class UnneededTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ConfigureLog({LogLevel::kError, {}});
    world.Format().value();
  }
  void TearDown() override {
    FaultPoints::Instance().DisarmAll();
    ConfigureLog({});
  }
  std::unique_ptr<Server> Serve(const std::string& name, std::uint64_t open_number) {
    auto server = world.Start(name).value();
    world.OpenRegion(*server, open_number).value();
    return server;
  }
  void WriteAndFlush(Server& server, const std::string& row) {
    ASSERT_TRUE(world.Mutate(*server.region, Put(row, "q", row)).value().ok());
    server.region->Flush().value();
  }
  // "" when one more opening has every row.
  std::string Reopen(std::uint64_t open_number, const std::vector<std::string>& rows) {
    auto server = world.Start("reader,1," + std::to_string(open_number)).value();
    if (const Status opened = world.OpenRegion(*server, open_number); !opened.ok()) return opened.error().ToString();
    for (const std::string& row : rows) {
      const auto read = world.Read(*server->region, row, "q");
      if (!read.ok()) return read.error().ToString();
      if (*read != row) return row + " is lost";
    }
    return {};
  }
  std::vector<std::string> Logs(const std::string& server) {
    return world.disk.NewProcess()->Open("/wals/" + server).value()->List().value();
  }

  EngineWorld world;
};

TEST(UnneededFiles, WhatAnOpeningTookOver) {
  ManifestState state;
  state.files.resize(2);
  state.files[0].name = "3-1.sst";
  state.files[1].name = "5-2.sst";
  state.consumed_edits = {"edits.h,1,1.log.0000000001"};
  const std::vector<std::string> names{
      "3-1.sst",  // named
      "3-2.sst",  // replaced, or never named at all
      "5-2.sst",  // named, of this opening
      "5-3.sst",  // of this opening: it may be being written
      "6-1.sst",  // of a higher one
      "edits.h,1,1.log.0000000001",
      "edits.h,1,1.log.0000000002",
      "manifest.3",
      "manifest.5",
      "manifest.6",
      "tmp.edits.h,1,1.log.0000000001.0123456789abcdef",
      "unneeded.3-3.sst",
      "what.ever",
      "x-1.sst",
      ".sst",
  };
  EXPECT_THAT(UnneededFiles(names, state, 5), ElementsAre("3-2.sst", "edits.h,1,1.log.0000000001", "manifest.3"));
}

TEST_F(UnneededTest, CompactionsAndOpeningsSayWhatTheyReplaced) {
  auto first = Serve(kFirst, 1);
  WriteAndFlush(*first, "r0");
  WriteAndFlush(*first, "r1");
  first->region->Compact(true).value();
  EXPECT_THAT(world.RegionFiles(), UnorderedElementsAre("1-3.sst", "manifest.1", "serving.1", "opened.1",
                                                        "unneeded.1-1.sst", "unneeded.1-2.sst"));
  EXPECT_EQ(world.Clean(kFirst).value(), 2U);
  first->region->Close().value();

  auto second = Serve(kSecond, 2);
  EXPECT_THAT(world.RegionFiles(), UnorderedElementsAre("1-3.sst", "manifest.2", "serving.2", "opened.2",
                                                        "unneeded.manifest.1", "unneeded.serving.1"));
  ASSERT_TRUE(world.Mutate(*second->region, Put("r2", "q", "r2")).value().ok());
  second.reset();
  world.Recover(kSecond).value();
  auto third = Serve("c,1,1", 3);
  EXPECT_THAT(world.RegionFiles(), Contains("edits.b,1,1.log.0000000001"));  // S25 (recovered edits stay until flushed)
  third->region->Flush().value();
  third.reset();
  EXPECT_THAT(world.RegionFiles(),
              UnorderedElementsAre("1-3.sst", "3-1.sst", "manifest.3", "serving.3", "opened.3", "unneeded.manifest.1",
                                   "unneeded.manifest.2", "unneeded.serving.1", "unneeded.serving.2",
                                   "unneeded.edits.b,1,1.log.0000000001"));
  EXPECT_EQ(world.Clean(kSecond).value(), 5U);
  EXPECT_EQ(Reopen(4, {"r0", "r1", "r2"}), "");
}

TEST_F(UnneededTest, AScannerGoesOnOverFilesThatAreGone) {
  auto server = Serve(kFirst, 1);
  WriteAndFlush(*server, "r0");
  WriteAndFlush(*server, "r1");
  const auto scanner = server->region->Scan({}).value();
  ScanLimits one;
  one.max_results = 1;
  EXPECT_EQ(scanner->Next(one).value().rows.size(), 1U);
  server->region->Compact(true).value();
  EXPECT_EQ(world.Clean(kFirst).value(), 2U);
  const ScanChunk rest = scanner->Next({}).value();
  ASSERT_EQ(rest.rows.size(), 1U);
  EXPECT_EQ(rest.rows[0].cells.at(0).value, "r1");
}

// Edits that were published after the opening was made are for the next one.
std::string RowsWithLateEdits(EngineWorld& world, const std::function<std::string()>& reopen) {
  auto dead = world.Start(kFirst).value();
  world.OpenRegion(*dead, 1).value();
  EXPECT_TRUE(world.Mutate(*dead->region, Put("late", "q", "late")).value().ok());
  dead.reset();
  auto next = world.Start(kSecond).value();
  FaultSpec publish;
  publish.action = FaultAction::kCall;
  publish.call = [&world](std::string_view) { world.Recover(kFirst).value(); };
  FaultPoints::Instance().Arm("region.before_unneeded", publish);
  world.OpenRegion(*next, 2).value();
  next->region->Close().value();
  EXPECT_TRUE(world.Clean(kSecond).ok());
  return reopen();
}

TEST_F(UnneededTest, EditsThatNoOpeningHasConsumedStay) {
  EXPECT_EQ(RowsWithLateEdits(world, [this] { return Reopen(3, {"late"}); }), "");
}

// A server sleeps between its CHECK and its listing of the directory. Meanwhile its region is open elsewhere.
std::string RowsAfterALateOpening(EngineWorld& world, const std::function<std::string()>& reopen) {
  auto late = world.Start(kFirst).value();
  auto next = world.Start(kSecond).value();
  FaultSpec pause;
  pause.action = FaultAction::kCall;
  pause.call = [&](std::string_view) {
    world.Recover(kFirst).value();
    world.OpenRegion(*next, 2).value();
    EXPECT_TRUE(world.Mutate(*next->region, Put("r", "q", "r")).value().ok());
    next->region->Flush().value();
  };
  FaultPoints::Instance().Arm("region.before_unneeded", pause);
  IgnoreResult(world.OpenRegion(*late, 1), "it is superseded");
  next->region->Close().value();
  EXPECT_TRUE(world.Clean(kSecond).ok());
  return reopen();
}

TEST_F(UnneededTest, LateServerTouchesNoFileOfItsSuccessor) {
  EXPECT_EQ(RowsAfterALateOpening(world, [this] { return Reopen(3, {"r"}); }), "");
}

// A compaction whose record in the manifest will not be read: the successor has taken over the earlier state.
std::string RowsAfterALateCompaction(EngineWorld& world, const std::function<std::string()>& reopen) {
  auto late = world.Start(kFirst).value();
  world.OpenRegion(*late, 1).value();
  for (const char* row : {"r0", "r1"}) {
    EXPECT_TRUE(world.Mutate(*late->region, Put(row, "q", row)).value().ok());
    late->region->Flush().value();
  }
  auto next = world.Start(kSecond).value();
  FaultSpec pause;
  pause.action = FaultAction::kCall;
  pause.call = [&](std::string_view) {
    world.Recover(kFirst).value();
    world.OpenRegion(*next, 2).value();
  };
  FaultPoints::Instance().Arm("manifest.before_write", pause);
  EXPECT_FALSE(late->region->Compact(true).ok());
  next->region->Close().value();
  EXPECT_TRUE(world.Clean(kSecond).ok());
  return reopen();
}

TEST_F(UnneededTest, ACompactionThatIsSupersededReplacesNothing) {
  EXPECT_EQ(RowsAfterALateCompaction(world, [this] { return Reopen(3, {"r0", "r1"}); }), "");
}

TEST_F(UnneededTest, LogsAreMarkedAsFarAsManifestsCoverThem) {
  auto server = Serve(kFirst, 1);
  ASSERT_TRUE(world.Mutate(*server->region, Put("r0", "q", "r0")).value().ok());
  server->log->Roll().value();
  server->log->MarkCovered();
  EXPECT_THAT(Logs(kFirst), UnorderedElementsAre("ALIVE", "log.0000000001", "log.0000000002", "made.log.0000000002"))
      << "r0 is in the log only";
  ASSERT_TRUE(world.Mutate(*server->region, Put("r1", "q", "r1")).value().ok());
  server->region->Flush().value();
  server->log->MarkCovered();
  EXPECT_THAT(Logs(kFirst), Contains("covered.log.0000000001"));
  EXPECT_EQ(server->log->Files().size(), 1U);
  EXPECT_EQ(server->log->Files().at(0).name, "log.0000000002") << "the current one is never marked";
  EXPECT_EQ(world.Clean(kFirst).value(), 1U);

  ASSERT_TRUE(world.Mutate(*server->region, Put("r2", "q", "r2")).value().ok());
  server->log->Roll().value();
  server->region->Close().value();  // flushes
  server->log->MarkCovered();
  EXPECT_THAT(Logs(kFirst), UnorderedElementsAre("ALIVE", "covered.log.0000000002", "log.0000000002", "log.0000000003",
                                                 "made.log.0000000003"));
  EXPECT_EQ(world.Clean(kFirst).value(), 1U);
  server.reset();
  world.Recover(kFirst).value();
  EXPECT_EQ(Reopen(2, {"r0", "r1", "r2"}), "");
}

// S111 (keep logs for every peer)
TEST_F(UnneededTest, WhatIsToBeKeptIsNotMarkedThoughManifestsCoverIt) {
  auto server = Serve(kFirst, 1);
  server->log->KeepFrom(0);
  ASSERT_TRUE(world.Mutate(*server->region, Put("r0", "q", "r0")).value().ok());
  server->log->Roll().value();
  server->region->Flush().value();
  server->log->MarkCovered();
  EXPECT_THAT(Logs(kFirst), Not(Contains("covered.log.0000000001")));
  server->log->KeepFrom(2);
  server->log->MarkCovered();
  EXPECT_THAT(Logs(kFirst), Contains("covered.log.0000000001"));
}

TEST_F(UnneededTest, ALostOpeningOwesForEver) {
  auto server = Serve(kFirst, 1);
  ASSERT_TRUE(world.Mutate(*server->region, Put("r", "q", "r")).value().ok());
  auto next = Serve(kSecond, 2);
  EXPECT_FALSE(server->region->Flush().ok());
  server->log->Roll().value();
  server->log->MarkCovered();
  EXPECT_THAT(Logs(kFirst), Not(Contains("covered.log.0000000001")));
}

TEST_F(UnneededTest, AStoppedServerLeavesNoSpaceAndNoWorkBehind) {
  world.log_options.prepare_next = true;
  world.log_options.roll_bytes = 1 << 20;
  auto server = Serve(kFirst, 1);
  ASSERT_TRUE(world.Mutate(*server->region, Put("r", "q", "r")).value().ok());
  server->log->Roll().value();
  ASSERT_TRUE(world.Mutate(*server->region, Put("s", "q", "s")).value().ok());
  EXPECT_LT(world.disk.Content("/wals/a,1,1/log.0000000001").value().size(), 1000U) << "cut when it was rolled";
  server->region->Flush().value();
  server->log->Stop();
  EXPECT_LT(world.disk.used_bytes(), 20'000U);
  // All data is in files; a prepared file is empty.
  const auto seals = world.FenceAndSeal(kFirst).value();
  for (const auto& seal : seals) EXPECT_EQ(seal.length, 0U) << seal.file;
  server.reset();
  EXPECT_EQ(Reopen(2, {"r", "s"}), "");
}

TEST_F(UnneededTest, ASealedLogThatWasRetiredMeanwhileIsNoDamage) {
  auto server = Serve(kFirst, 1);
  ASSERT_TRUE(world.Mutate(*server->region, Put("r", "q", "r")).value().ok());
  server->log->Roll().value();
  server->region->Flush().value();
  const auto seals = world.FenceAndSeal(kFirst).value();  // sealed while no mark declared it covered
  ASSERT_EQ(seals.at(0).file, "log.0000000001");
  auto splitter = world.disk.NewProcess("splitter");
  auto directory = splitter->Open("/wals/a,1,1-splitting").value();
  ASSERT_TRUE(directory->Rename("log.0000000001", "elsewhere").ok());
  EXPECT_EQ(world.Split(*splitter, kFirst, seals[0], 1).error().code(), Code::kNotFound);
  server->log->MarkCovered();  // late, but still true
  EXPECT_TRUE(world.Split(*splitter, kFirst, seals[0], 2).value().retired);
  server.reset();
  EXPECT_EQ(Reopen(2, {"r"}), "");
}

// The fence falls between the manifest's sync and its CHECK.
std::size_t OwedAfterAFencedFlush(EngineWorld& world) {
  auto server = world.Start(kFirst).value();
  world.OpenRegion(*server, 1).value();
  EXPECT_TRUE(world.Mutate(*server->region, Put("r", "q", "r")).value().ok());
  FaultSpec fence;
  fence.action = FaultAction::kCall;
  fence.call = [&world](std::string_view) { EXPECT_TRUE(world.FenceAndSeal(kFirst).ok()); };
  FaultPoints::Instance().Arm("region.manifest_written", fence);
  EXPECT_FALSE(server->region->Flush().ok());
  return server->log->Files().at(0).owed.size();
}

TEST_F(UnneededTest, OnlyACheckedManifestCovers) { EXPECT_EQ(OwedAfterAFencedFlush(world), 1U); }

#if defined(RATCHET_MUTANTS)
TEST_F(UnneededTest, CoveringBeforeTheCheckIsNoticed) {
  const ScopedMutant mutant("log.covered_before_check");
  EXPECT_EQ(OwedAfterAFencedFlush(world), 0U);
}

TEST_F(UnneededTest, ReplacingBeforeTheCheckIsNoticed) {
  ExpectKilled(
      "region.unneeded_before_check",
      [&] { return RowsAfterALateCompaction(world, [this] {
              return Reopen(3, {"r0", "r1"});
            }); },
      "1-1.sst does not exist");
}

TEST_F(UnneededTest, TouchingFilesOfAnyOpeningIsNoticed) {
  ExpectKilled(
      "unneeded.any_opening", [&] { return RowsAfterALateOpening(world, [this] { return Reopen(3, {"r"}); }); },
      "2-1.sst does not exist");
}

TEST_F(UnneededTest, DroppingUnconsumedEditsIsNoticed) {
  ExpectKilled(
      "unneeded.any_edits", [&] { return RowsWithLateEdits(world, [this] { return Reopen(3, {"late"}); }); },
      "late is lost");
}
#endif

}  // namespace
}  // namespace ratchet::regionserver
