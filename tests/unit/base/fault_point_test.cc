#include "common/base/fault_point.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace ratchet {
namespace {

// These tests arm names that need no entry in fault_points.def; only ArmFromText checks names.
class FaultPointTest : public testing::Test {
 protected:
  void TearDown() override { FaultPoints::Instance().DisarmAll(); }
  FaultPoints& points_ = FaultPoints::Instance();
};

TEST_F(FaultPointTest, NothingHappensUnlessArmed) {
  EXPECT_FALSE(points_.armed());
  EXPECT_TRUE(HitFault("test.place").ok());
}

TEST_F(FaultPointTest, FailsTheChosenHitsOfTheChosenDetail) {
  FaultSpec spec;
  spec.action = FaultAction::kFail;
  spec.match = "blue";
  spec.skip = 1;
  spec.times = 2;
  const auto before = points_.Fired("test.place");
  points_.Arm("test.place", spec);
  EXPECT_TRUE(HitFault("test.place", "red").ok());
  EXPECT_TRUE(HitFault("test.place", "blue 1").ok());
  EXPECT_FALSE(HitFault("test.place", "blue 2").ok());
  EXPECT_TRUE(HitFault("test.other", "blue").ok());
  EXPECT_FALSE(HitFault("test.place", "blue 3").ok());
  EXPECT_TRUE(HitFault("test.place", "blue 4").ok());
  EXPECT_EQ(points_.Fired("test.place") - before, 2u);
}

TEST_F(FaultPointTest, CallsTheTest) {
  std::string seen;
  FaultSpec spec;
  spec.action = FaultAction::kCall;
  spec.call = [&](std::string_view detail) { seen = detail; };
  points_.Arm("test.place", spec);
  EXPECT_TRUE(HitFault("test.place", "here").ok());
  EXPECT_EQ(seen, "here");
}

TEST_F(FaultPointTest, CrashEndsTheProcessWithItsOwnExitCode) {
  FaultSpec spec;
  points_.Arm("test.place", spec);
  EXPECT_EXIT((void)HitFault("test.place").ok(), testing::ExitedWithCode(kFaultExitCode), "");
}

TEST_F(FaultPointTest, TextIsCheckedBeforeAnythingIsArmed) {
  for (const char* wrong : {"no-equals", "not.a.known.name=crash", "x=jump", "x=delay:soon", "x=crash@first"}) {
    const auto armed = points_.ArmFromText(wrong);
    ASSERT_FALSE(armed.ok()) << wrong;
    EXPECT_EQ(armed.error().code(), Code::kInvalidArgument);
    EXPECT_NE(armed.error().message().find(wrong), std::string::npos) << armed.error().message();
  }
  EXPECT_FALSE(points_.armed());
}

TEST_F(FaultPointTest, NamesAreUniqueAndDotted) {
  std::set<std::string> seen;
  for (const auto& name : points_.Names()) {
    EXPECT_TRUE(seen.insert(name).second) << name << " is listed twice";
    EXPECT_NE(name.find('.'), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace ratchet
