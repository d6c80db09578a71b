// S120 (unserved region is reported): a region that refuses every request is reported within seconds, and its server
// ends if nothing else helps.
#include "regionserver/host/unserved_regions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "regionserver/store/ownership.h"
#include "tests/unit/regionserver_server/service_fixture.h"

namespace ratchet::regionserver {
namespace {

using ::testing::HasSubstr;

class UnservedRegionsTest : public ServiceFixture {
 protected:
  void SetUp() override {
    ConfigureLog({LogLevel::kError, {}});
    ServiceFixture::SetUp();
    ASSERT_EQ(OpenRegion(region_, 5).outcome, OrderOutcome::kOpened);
    ASSERT_TRUE(Put(region_, "r", "q", "v").ok());
  }
  void TearDown() override {
    ServiceFixture::TearDown();
    ConfigureLog({});
  }
  std::unique_ptr<io::Directory> Directory() {
    return *disk_->Open(std::string("/root/data/") + kTableDir + "/" + region_.encoded_name());
  }
  void LoseMark() { ASSERT_TRUE(Directory()->Unlink(ServingName(5)).ok()); }
  static std::string Shown(const UnservedRegions& unserved) {
    pb::StorageReport report;
    unserved.Fill(report);
    return report.unserved_regions() == 0 ? "" : report.unserved_why();
  }
  std::string ShownByHost() {
    pb::StorageReport report;
    host_->FillStorage(report);
    return report.unserved_why();
  }

  const RegionInfo region_ = TableRegion();
  const TimePoint begin_ = clock_.Now();
};

TEST_F(UnservedRegionsTest, AMarkThatIsGoneIsShownAtTheNextLookAndEndsTheServer) {
  UnservedRegions unserved;
  EXPECT_FALSE(unserved.Look(host_->regions.All(), begin_).has_value());
  EXPECT_EQ(Shown(unserved), "");
  LoseMark();
  EXPECT_FALSE(unserved.Look(host_->regions.All(), begin_).has_value());
  EXPECT_THAT(Shown(unserved), HasSubstr(region_.encoded_name()));
  EXPECT_THAT(Shown(unserved), HasSubstr("the mark serving.5 is gone"));
  EXPECT_FALSE(unserved.Look(host_->regions.All(), begin_ + UnservedRegions::kPatience - Millis(1)).has_value());
  const auto why = unserved.Look(host_->regions.All(), begin_ + UnservedRegions::kPatience);
  ASSERT_TRUE(why.has_value());
  EXPECT_THAT(*why, HasSubstr(region_.encoded_name()));
}

TEST_F(UnservedRegionsTest, AMarkThatComesBackIsForgotten) {
  UnservedRegions unserved;
  LoseMark();
  EXPECT_FALSE(unserved.Look(host_->regions.All(), begin_).has_value());
  ASSERT_TRUE(Directory()->Create(ServingName(5)).ok());
  EXPECT_FALSE(unserved.Look(host_->regions.All(), begin_ + UnservedRegions::kPatience).has_value());
  EXPECT_EQ(Shown(unserved), "");
}

// The directory may come back, and another server could not open the region either.
TEST_F(UnservedRegionsTest, ADirectoryThatIsGoneIsShownAndEndsNothing) {
  UnservedRegions unserved;
  disk_->SetHook([](const io::SimEvent& event) {
    const bool looks = event.op == io::SimOp::kLookUp || event.op == io::SimOp::kList;
    return looks && event.path.find("/root/data/") == 0 ? io::SimVerdict::Fail(Code::kNotFound)
                                                        : io::SimVerdict::Proceed();
  });
  EXPECT_FALSE(unserved.Look(host_->regions.All(), begin_).has_value());
  EXPECT_FALSE(unserved.Look(host_->regions.All(), begin_ + 10 * UnservedRegions::kPatience).has_value());
  EXPECT_THAT(Shown(unserved), HasSubstr(region_.encoded_name()));
  disk_->SetHook({});
}

TEST_F(UnservedRegionsTest, ARequestThatIsRefusedIsReportedAtOnce) {
  LoseMark();
  EXPECT_FALSE(Get(region_, "r").ok());
  EXPECT_THAT(ShownByHost(), HasSubstr(region_.encoded_name()));
  EXPECT_TRUE(deaths_.empty());
}

TEST_F(UnservedRegionsTest, ARegionThatLeavesIsForgotten) {
  UnservedRegions unserved;
  LoseMark();
  EXPECT_FALSE(unserved.Look(host_->regions.All(), begin_).has_value());
  EXPECT_FALSE(unserved.Look({}, begin_ + UnservedRegions::kPatience).has_value());
  EXPECT_EQ(Shown(unserved), "");
}

TEST_F(UnservedRegionsTest, SilenceIsNoticed) {
  const ScopedMutant mutant("host.silent_refusals");
  UnservedRegions unserved;
  LoseMark();
  EXPECT_FALSE(unserved.Look(host_->regions.All(), begin_).has_value());
  EXPECT_FALSE(unserved.Look(host_->regions.All(), begin_ + UnservedRegions::kPatience).has_value());
  EXPECT_EQ(Shown(unserved), "");
}

}  // namespace
}  // namespace ratchet::regionserver
