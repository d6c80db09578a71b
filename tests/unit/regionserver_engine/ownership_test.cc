// S50 (give up only on proof) and S52 (one mark per opening): one look-up of one name decides which opening counts, and
// only a higher opening that was positively found gives a region up.
#include "regionserver/store/ownership.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>

#include "common/base/fault_point.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/base/mutex.h"
#include "common/io/unneeded_files.h"
#include "regionserver/store/manifest.h"
#include "tests/unit/regionserver_engine/engine_world.h"

namespace ratchet::regionserver {
namespace {

using ::testing::Contains;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

class OwnershipTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ConfigureLog({LogLevel::kError, {}});
    world.Format().value();
    world.lost = [this](const Error&) { ++lost; };
    world.unsure = [this](const Error&) { ++unsure; };
    world.log_options.unsure = [this](const Error&) { ++unsure; };
  }
  void TearDown() override {
    FaultPoints::Instance().DisarmAll();
    ConfigureLog({});
  }
  std::unique_ptr<Server> Serve(const std::string& name, std::uint64_t open_number, io::SimHook hook = {}) {
    auto server = world.Start(name, std::move(hook)).value();
    world.OpenRegion(*server, open_number).value();
    return server;
  }
  bool Write(Server& server, const std::string& row) {
    const auto answer = world.Mutate(*server.region, Put(row, "q", row));
    return answer && answer->ok();
  }
  // A server whose looks for the marks of openings fail while `blind`.
  std::unique_ptr<Server> ServeBlindly(Code code) {
    return Serve("a,1,1", 5, [this, code](const io::SimEvent& event) {
      const bool looks = event.op == io::SimOp::kLookUp || event.op == io::SimOp::kList;
      if (!blind || !looks || event.path.find("/data/") != 0) return io::SimVerdict::Proceed();
      return io::SimVerdict::Fail(code);
    });
  }
  std::unique_ptr<io::Directory> Directory() {
    return world.disk.NewProcess()->Open("/data/" + world.info.encoded_name()).value();
  }
  // After the end of "a,1,1" its log is split, and the region opens elsewhere.
  std::unique_ptr<Server> Recovered(std::unique_ptr<Server> ended) {
    ended.reset();
    world.Recover("a,1,1").value();
    return Serve("b,1,1", 6);
  }

  EngineWorld world;
  std::atomic<int> lost{0};
  std::atomic<int> unsure{0};
  std::atomic<bool> blind{false};
};

// --- S50 (give up only on proof) ---

TEST_F(OwnershipTest, ALookThatFailsAfterAWriteEndsTheServerAndLosesNothing) {
  auto server = ServeBlindly(Code::kIo);
  ASSERT_TRUE(Write(*server, "before"));
  blind = true;
  EXPECT_FALSE(Write(*server, "unknown"));
  blind = false;
  EXPECT_EQ(lost, 0);  // it is neither fenced nor superseded
  EXPECT_EQ(unsure, 1);
  // Until the process has ended no request is answered, and no report may claim that the region is closed.
  EXPECT_FALSE(Write(*server, "late"));
  EXPECT_FALSE(server->region->CheckServing().ok());
  EXPECT_FALSE(server->region->Close().ok());
  EXPECT_EQ(world.Read(*Recovered(std::move(server))->region, "before", "q").value(), "before");
}

TEST_F(OwnershipTest, GivingUpWhenUnsureIsNoticed) {
  const ScopedMutant mutant("log.give_up_when_unsure");
  auto server = ServeBlindly(Code::kIo);
  ASSERT_TRUE(Write(*server, "before"));
  blind = true;
  EXPECT_FALSE(Write(*server, "unknown"));
  EXPECT_EQ(lost, 1);  // the mutant that the test above would notice
  EXPECT_EQ(unsure, 0);
}

TEST_F(OwnershipTest, AReadThatCannotBeCheckedIsRefusedAndTheRegionStays) {
  auto server = ServeBlindly(Code::kIo);
  ASSERT_TRUE(Write(*server, "r"));
  blind = true;
  EXPECT_FALSE(world.Read(*server->region, "r", "q").ok());
  blind = false;
  EXPECT_EQ(world.Read(*server->region, "r", "q").value(), "r");
  EXPECT_TRUE(Write(*server, "s"));
  EXPECT_EQ(lost + unsure, 0);
}

// If the manifest and the memory of a region disagree, the server must not continue with both.
TEST_F(OwnershipTest, AManifestThatIsWrittenButNotCheckedEndsTheServer) {
  auto server = ServeBlindly(Code::kIo);
  ASSERT_TRUE(Write(*server, "r"));
  FaultSpec spec;
  spec.action = FaultAction::kCall;
  spec.call = [this](std::string_view) { blind = true; };
  FaultPoints::Instance().Arm("region.manifest_written", spec);
  EXPECT_FALSE(server->region->Flush().ok());
  FaultPoints::Instance().DisarmAll();
  blind = false;
  EXPECT_EQ(lost, 0);
  EXPECT_EQ(unsure, 1);
  EXPECT_FALSE(Write(*server, "late"));
  EXPECT_FALSE(server->region->Flush().ok());
  EXPECT_FALSE(server->region->Close().ok());
  EXPECT_EQ(world.Read(*Recovered(std::move(server))->region, "r", "q").value(), "r");
}

TEST_F(OwnershipTest, GoingOnWithAnotherManifestThanMemoryIsNoticed) {
  const ScopedMutant mutant("region.go_on_when_unsure");
  auto server = ServeBlindly(Code::kIo);
  ASSERT_TRUE(Write(*server, "r"));
  FaultSpec spec;
  spec.action = FaultAction::kCall;
  spec.call = [this](std::string_view) { blind = true; };
  FaultPoints::Instance().Arm("region.manifest_written", spec);
  EXPECT_FALSE(server->region->Flush().ok());
  FaultPoints::Instance().DisarmAll();
  blind = false;
  EXPECT_EQ(unsure, 0);
  EXPECT_TRUE(Write(*server, "late"));
}

TEST_F(OwnershipTest, AFullDiskWhileClosingKeepsTheRegionForAnotherClose) {
  std::atomic<bool> full{false};
  auto server = Serve("a,1,1", 5, [&full](const io::SimEvent& event) {
    const bool writes = event.op == io::SimOp::kAppend && event.path.find(".sst") != std::string::npos;
    return full && writes ? io::SimVerdict::Fail(Code::kNoSpace) : io::SimVerdict::Proceed();
  });
  ASSERT_TRUE(Write(*server, "r"));
  full = true;
  const Status closed = server->region->Close();
  ASSERT_FALSE(closed.ok());
  EXPECT_EQ(closed.error().code(), Code::kNoSpace);
  EXPECT_FALSE(Write(*server, "late"));  // it never serves writes again
  EXPECT_EQ(world.Read(*server->region, "r", "q").value(), "r");
  full = false;
  EXPECT_TRUE(server->region->Close().ok());
  server.reset();  // without its log
  EXPECT_EQ(world.Read(*Serve("b,1,1", 6)->region, "r", "q").value(), "r");
}

TEST_F(OwnershipTest, AMarkThatNoOpeningHasTakenIsNoFinding) {
  auto server = Serve("a,1,1", 5);
  ASSERT_TRUE(Write(*server, "before"));
  Directory()->Unlink(ServingName(5)).value();
  EXPECT_FALSE(Write(*server, "unknown"));
  EXPECT_EQ(lost, 0);
  EXPECT_EQ(unsure, 1);
}

// --- S52 (one mark per opening) ---

TEST_F(OwnershipTest, TheCheckOfAnAnswerNeedsNoDescriptorAndNoListing) {
  Mutex mutex;
  std::map<io::SimOp, int> counts;
  auto server = Serve("a,1,1", 5, [&](const io::SimEvent& event) {
    MutexLock lock(mutex);
    ++counts[event.op];
    return io::SimVerdict::Proceed();
  });
  const auto counted = [&](const std::function<void()>& what) {
    {
      MutexLock lock(mutex);
      counts.clear();
    }
    what();
    MutexLock lock(mutex);
    return counts;
  };
  ASSERT_TRUE(Write(*server, "warm"));
  auto write = counted([&] { EXPECT_TRUE(Write(*server, "r")); });
  EXPECT_EQ(write[io::SimOp::kList] + write[io::SimOp::kOpen] + write[io::SimOp::kCreate], 0);
  EXPECT_EQ(write[io::SimOp::kLookUp], 2);  // the fence and the mark
  auto read = counted([&] { EXPECT_EQ(world.Read(*server->region, "r", "q").value(), "r"); });
  EXPECT_EQ(read[io::SimOp::kList] + read[io::SimOp::kOpen], 0);
  EXPECT_EQ(read[io::SimOp::kLookUp], 2);
}

// The manifest of a superseded opening may be given up, and then a late duplicate of its order finds its name free.
TEST_F(OwnershipTest, ALateDuplicateDoesNotReviveASupersededOpening) {
  auto superseded = Serve("a,1,1", 5);
  auto owner = Serve("b,1,1", 6);
  ASSERT_TRUE(world.Clean("b,1,1").ok());
  ASSERT_THAT(world.RegionFiles(), Not(Contains("manifest.5")));
  auto duplicate = world.Start("c,1,1").value();
  const Status opened = world.OpenRegion(*duplicate, 5);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code(), Code::kFenced);
  EXPECT_FALSE(Write(*superseded, "late"));
  EXPECT_EQ(lost, 1);
  EXPECT_TRUE(Write(*owner, "r"));
}

TEST_F(OwnershipTest, AMarkBeforeTheFirstLookRevivesASupersededOpening) {
  const ScopedMutant mutant("region.mark_before_look");
  auto superseded = Serve("a,1,1", 5);
  auto owner = Serve("b,1,1", 6);
  ASSERT_TRUE(world.Clean("b,1,1").ok());
  auto duplicate = world.Start("c,1,1").value();
  EXPECT_FALSE(world.OpenRegion(*duplicate, 5).ok());
  EXPECT_TRUE(Write(*superseded, "late"));  // the mutant that the test above would notice
}

TEST_F(OwnershipTest, AnOpeningThatKeepsLowerMarksSilencesNoOne) {
  const ScopedMutant mutant("region.keep_lower_marks");
  auto superseded = Serve("a,1,1", 5);
  const auto directory = Directory();
  const auto manifest = Manifest::Create(*directory, world.info.encoded_name(), 6).value();  // has read by now
  EXPECT_TRUE(Write(*superseded, "late"));
}

// Makes the files of a cluster from before there were marks: manifests and store files only.
TEST_F(OwnershipTest, ADirectoryWithoutMarksOpens) {
  auto server = Serve("a,1,1", 5);
  ASSERT_TRUE(Write(*server, "r"));
  server->region->Close().value();
  server.reset();
  for (const std::string& name : world.RegionFiles())
    if (ServingNumber(name) > 0 || OpenedNumber(name) > 0) Directory()->Unlink(name).value();
  ASSERT_THAT(world.RegionFiles(), UnorderedElementsAre("5-1.sst", "manifest.5"));
  auto next = Serve("b,1,1", 6);
  EXPECT_EQ(world.Read(*next->region, "r", "q").value(), "r");
  EXPECT_THAT(world.RegionFiles(),
              UnorderedElementsAre("5-1.sst", "manifest.6", "serving.6", "opened.6", "unneeded.manifest.5"));
}

// An opening on a server of an earlier version finds a higher manifest, as it expects.
TEST_F(OwnershipTest, AnOpeningMakesAManifestForThoseWhoListThem) {
  auto server = Serve("a,1,1", 5);
  EXPECT_THAT(world.RegionFiles(), UnorderedElementsAre("manifest.5", "serving.5", "opened.5"));
}

TEST_F(OwnershipTest, OpeningZeroIsAnError) {
  const auto made = Manifest::Create(*Directory(), world.info.encoded_name(), 0);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace ratchet::regionserver
