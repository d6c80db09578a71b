// S35 (proof of a clean close): a close ends the opening's manifest with the record CLOSED, and no request is served
// after it.
#include <atomic>

#include <gtest/gtest.h>

#include "common/base/fault_point.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "regionserver/store/manifest.h"
#include "tests/unit/regionserver_engine/engine_world.h"

namespace ratchet::regionserver {
namespace {

class CleanCloseTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ConfigureLog({LogLevel::kError, {}});
    world.unsure = [this](const Error&) { ++unsure; };
    world.Format().value();
    server = std::move(world.Start("a,1,1")).value();
    world.OpenRegion(*server, 5).value();
    EXPECT_TRUE(world.Mutate(*server->region, Put("r", "q", "1"))->ok());
  }
  void TearDown() override {
    FaultPoints::Instance().DisarmAll();
    ConfigureLog({});
  }
  bool SaysClosed(std::uint64_t open_number) {
    auto process = world.disk.NewProcess("reader");
    auto directory = process->Open("/data/" + world.info.encoded_name()).value();
    return ReadManifest(*directory, world.info.encoded_name(), open_number).value().closed;
  }
  Status CloseWithAFailureBehindTheRecord() {
    FaultSpec spec;
    spec.action = FaultAction::kFail;
    FaultPoints::Instance().Arm("region.before_close_check", spec);
    const Status closed = server->region->Close();
    FaultPoints::Instance().DisarmAll();
    return closed;
  }

  EngineWorld world;
  std::atomic<int> unsure{0};
  std::unique_ptr<Server> server;
};

TEST_F(CleanCloseTest, TheManifestEndsWithTheRecord) {
  EXPECT_FALSE(SaysClosed(5));
  server->region->Flush().value();
  EXPECT_FALSE(SaysClosed(5));
  server->region->Close().value();
  world.disk.PowerFailure();
  EXPECT_TRUE(SaysClosed(5)) << "durable";
}

TEST_F(CleanCloseTest, WithoutTheRecordNoCloseIsClean) {
  const ScopedMutant mutant("region.close_without_record");
  server->region->Close().value();
  EXPECT_FALSE(SaysClosed(5));
}

TEST_F(CleanCloseTest, TheNextOpeningIsNotClosed) {
  server->region->Close().value();
  auto next = std::move(world.Start("b,1,1")).value();
  world.OpenRegion(*next, 6).value();
  EXPECT_FALSE(SaysClosed(6));
  EXPECT_EQ(world.Read(*next->region, "r", "q").value(), "1");
  next->region->Close().value();
  EXPECT_TRUE(SaysClosed(6)) << "also without anything to flush";
}

TEST_F(CleanCloseTest, AFailureBehindTheRecordEndsTheProcess) {
  EXPECT_FALSE(CloseWithAFailureBehindTheRecord().ok());
  EXPECT_EQ(unsure, 1);
  EXPECT_FALSE(world.Read(*server->region, "r", "q").ok());
  EXPECT_FALSE(server->region->Flush().ok());
  EXPECT_FALSE(server->region->Close().ok());
  EXPECT_FALSE((*world.Mutate(*server->region, Put("r", "q", "2"))).ok());
  EXPECT_EQ(unsure, 1);
}

TEST_F(CleanCloseTest, ReadingAfterTheRecordIsNoticed) {
  const ScopedMutant mutant("region.read_after_closed");
  EXPECT_FALSE(CloseWithAFailureBehindTheRecord().ok());
  EXPECT_TRUE(world.Read(*server->region, "r", "q").ok());  // the mutant that the test above would notice
  EXPECT_EQ(unsure, 0);
}

// Returns true if the close of an opening without writes finds a full disk, depending on the length of the manifest's
// first record.
bool CloseMeetsAFullDisk(std::size_t key_bytes) {
  EngineWorld world;
  std::atomic<bool> full{false};
  world.Format().value();
  auto first = std::move(world.Start("a,1,1")).value();
  world.OpenRegion(*first, 5).value();
  const std::string row(key_bytes, 'r');
  EXPECT_TRUE(world.Mutate(*first->region, Put(row, "q", "1"))->ok());
  first->region->Close().value();
  auto hook = [&full](const io::SimEvent& event) {
    return full && event.op == io::SimOp::kReserve ? io::SimVerdict::Fail(Code::kNoSpace) : io::SimVerdict::Proceed();
  };
  auto second = std::move(world.Start("b,1,1", hook)).value();
  world.OpenRegion(*second, 6).value();
  full = true;
  const Status closed = second->region->Close();
  full = false;
  if (closed.ok()) return false;
  EXPECT_EQ(closed.error().code(), Code::kNoSpace);
  EXPECT_EQ(world.Read(*second->region, row, "q").value(), "1") << "read meanwhile";
  EXPECT_TRUE(second->region->Close().ok());
  EXPECT_FALSE(world.Read(*second->region, row, "q").ok());
  return true;
}

TEST_F(CleanCloseTest, ARecordForWhichThereIsNoSpaceLetsTheCloseTryAgain) {
  int met = 0;  // space is reserved in pieces of 4096 bytes, and two keys are in the record
  for (std::size_t key_bytes = 100; key_bytes < 2200; key_bytes += 16) met += CloseMeetsAFullDisk(key_bytes) ? 1 : 0;
  EXPECT_GT(met, 0);
}

TEST(CleanCloseRecord, CountsOnlyAsTheLastOneAndRemovesNothing) {
  ManifestState state;
  state.files.push_back({"5-1.sst", 1, 1, 1, "a", "b", {}});
  ManifestEdit closed;
  closed.closed = true;
  ApplyEdit(closed, state);
  EXPECT_TRUE(state.closed);
  EXPECT_EQ(state.files.size(), 1U);
  ApplyEdit(ManifestEdit{}, state);
  EXPECT_FALSE(state.closed) << "only as the last record";
}

}  // namespace
}  // namespace ratchet::regionserver
