// S51 (CLOSED means closed cleanly): a host's answers about a region that it had open and did not close.
#include "regionserver/host/region_host.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "common/base/exit_codes.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/rpc/exceptions.h"
#include "regionserver/store/manifest.h"
#include "tests/unit/regionserver_server/service_fixture.h"

namespace ratchet::regionserver {
namespace {

class RegionHostTest : public ServiceFixture {
 protected:
  void SetUp() override {
    ConfigureLog({LogLevel::kError, {}});
    ServiceFixture::SetUp();
    ASSERT_EQ(OpenRegion(region_, 5).outcome, OrderOutcome::kOpened);
    ASSERT_TRUE(Put(region_, "r", "q", "acknowledged").ok());
  }
  void TearDown() override {
    disk_->SetHook({});  // it refers to objects on a test's stack
    ServiceFixture::TearDown();
    ConfigureLog({});
  }
  // Another server opens the region, although no answer and no fence has settled the order to this server.
  void OpenElsewhere(std::uint64_t open_number) {
    elsewhere_ = sim_.NewProcess();
    directory_ = *elsewhere_->Open(std::string("/root/data/") + kTableDir + "/" + region_.encoded_name());
    manifest_ = Manifest::Create(*directory_, region_.encoded_name(), open_number).value();
  }
  std::optional<OrderAnswer> CloseRegion() {
    CloseOrder order;
    order.pid = ProcId(++last_pid_);
    order.encoded_name = region_.encoded_name();
    return host_->orders.Close(order);
  }

  const RegionInfo region_ = TableRegion();
  std::unique_ptr<io::SimDisk::Process> elsewhere_;
  std::unique_ptr<io::Directory> directory_;
  std::unique_ptr<Manifest> manifest_;
};

// A hint leads clients to a region that has moved. After every other close the region may be gone: its table was
// deleted, or it was split or merged.
TEST_F(RegionHostTest, OnlyAMoveLeavesAHint) {
  const auto answer = [this] { return std::string(rpc::ClassOf(host_->regions.Find(region_.encoded_name()).error())); };
  CloseOrder order;
  order.pid = ProcId(++last_pid_);
  order.encoded_name = region_.encoded_name();
  order.destination = ServerName{"there", 1, 2};
  ASSERT_TRUE(host_->orders.Close(order).has_value());
  EXPECT_EQ(answer(), rpc::exception::kRegionMoved);
  EXPECT_EQ(rpc::MovedTo(host_->regions.Find(region_.encoded_name()).error()), order.destination);
  EXPECT_TRUE(CloseRegion().has_value());
  EXPECT_EQ(answer(), rpc::exception::kNotServingRegion) << "an order to close it permanently, which came here too";

  ASSERT_EQ(OpenRegion(region_, 7).outcome, OrderOutcome::kOpened);
  EXPECT_TRUE(CloseRegion().has_value());
  EXPECT_EQ(answer(), rpc::exception::kNotServingRegion);
}

TEST_F(RegionHostTest, ARegionThatWasTakenOverIsNeverCalledClosed) {
  OpenElsewhere(9);
  EXPECT_FALSE(Put(region_, "r", "q", "late").ok());
  EXPECT_TRUE(host_->regions.All().empty());  // given up: a higher opening was found
  EXPECT_TRUE(deaths_.empty());
  EXPECT_FALSE(CloseRegion().has_value());
  ASSERT_EQ(deaths_.size(), 1U);  // so that its log is split
  EXPECT_EQ(deaths_[0].first, exit_code::kOwnerUnknown);
}

TEST_F(RegionHostTest, ACloseThatFindsAHigherOpeningEndsTheServer) {
  OpenElsewhere(9);
  EXPECT_FALSE(CloseRegion().has_value());
  ASSERT_EQ(deaths_.size(), 1U);
  EXPECT_EQ(deaths_[0].first, exit_code::kOwnerUnknown);
  EXPECT_FALSE(CloseRegion().has_value());  // and again
}

TEST_F(RegionHostTest, ARegionThatWasTakenOverIsNotOpenedHereAgain) {
  OpenElsewhere(9);
  EXPECT_FALSE(Put(region_, "r", "q", "late").ok());
  EXPECT_EQ(OpenRegion(region_, 10).outcome, OrderOutcome::kFailedOpen);
  EXPECT_EQ(deaths_.size(), 1U);
}

TEST_F(RegionHostTest, CallingARegionClosedThatWasTakenOverIsNoticed) {
  const ScopedMutant mutant("host.closed_without_close");
  OpenElsewhere(9);
  const auto answer = CloseRegion();
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->outcome, OrderOutcome::kClosed);
  EXPECT_TRUE(deaths_.empty());
}

TEST_F(RegionHostTest, ALookThatFailsEndsTheServerAndKeepsTheRegion) {
  std::atomic<bool> blind{true};
  disk_->SetHook([&blind](const io::SimEvent& event) {
    const bool looks = event.op == io::SimOp::kLookUp || event.op == io::SimOp::kList;
    return blind && looks && event.path.find("/root/data/") == 0 ? io::SimVerdict::Fail(Code::kIo)
                                                                 : io::SimVerdict::Proceed();
  });
  EXPECT_FALSE(Put(region_, "r", "q", "unknown").ok());
  blind = false;
  ASSERT_EQ(deaths_.size(), 1U);
  EXPECT_EQ(deaths_[0].first, exit_code::kOwnerUnknown);
  EXPECT_EQ(host_->regions.All().size(), 1U);  // heartbeats do not lack it
  EXPECT_FALSE(CloseRegion().has_value());
}

TEST_F(RegionHostTest, ARegionThatWasNeverOpenIsCalledClosed) {
  EXPECT_EQ(CloseRegion()->outcome, OrderOutcome::kClosed);
  EXPECT_EQ(CloseRegion()->outcome, OrderOutcome::kClosed);  // S20 (answers are repeated), it is closed
  EXPECT_TRUE(deaths_.empty());
}

TEST_F(RegionHostTest, ACloseWaitsForSpace) {
  std::atomic<int> refused{0};
  std::atomic<bool> full{true};
  disk_->SetHook([&](const io::SimEvent& event) {
    if (!full || event.op != io::SimOp::kAppend || event.path.find(".sst") == std::string::npos)
      return io::SimVerdict::Proceed();
    if (++refused == 3) full = false;
    return io::SimVerdict::Fail(Code::kNoSpace);
  });
  EXPECT_EQ(CloseRegion()->outcome, OrderOutcome::kClosed);
  EXPECT_GE(refused, 3);
  EXPECT_TRUE(deaths_.empty());
}

TEST_F(RegionHostTest, AStopEndsACloseThatWaitsForSpace) {
  std::atomic<int> refused{0};
  disk_->SetHook([&refused](const io::SimEvent& event) {
    if (event.op != io::SimOp::kAppend || event.path.find(".sst") == std::string::npos)
      return io::SimVerdict::Proceed();
    ++refused;
    return io::SimVerdict::Fail(Code::kNoSpace);
  });
  std::optional<OrderAnswer> answer;
  std::thread closer([&] { answer = CloseRegion(); });
  while (refused == 0) std::this_thread::yield();
  host_->orders.StopWaiting();
  closer.join();
  EXPECT_FALSE(answer.has_value());
  disk_->SetHook({});
}

}  // namespace
}  // namespace ratchet::regionserver
