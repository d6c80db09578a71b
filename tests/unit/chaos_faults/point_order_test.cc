#include <gtest/gtest.h>

#include "chaos/faults/fault.h"
#include "chaos/faults/occasions.h"
#include "chaos/faults/point_order.h"

namespace ratchet::chaos {
namespace {

PointOrder Point(std::string_view text) {
  auto order = ParsePoint(text);
  EXPECT_TRUE(order.ok()) << text;
  return order.ok() ? *order : PointOrder{};
}

TEST(PointOrder, HasDefaults) {
  EXPECT_EQ(Point("log.before_sync"), (PointOrder{"log.before_sync", "", "crash", 0}));
  EXPECT_EQ(Point("log.before_sync@3"), (PointOrder{"log.before_sync", "", "crash", 3}));
  EXPECT_EQ(Point("io.sync=delay:500@2"), (PointOrder{"io.sync", "", "delay:500", 2}));
  EXPECT_EQ(Point("executor.after_commit~ServerCrash:SEAL=crash@1"),
            (PointOrder{"executor.after_commit", "ServerCrash:SEAL", "crash", 1}));
}

TEST(PointOrder, IsWrittenAsTheProgramsReadIt) {
  EXPECT_EQ(Point("log.before_sync").ToText(), "log.before_sync=crash");
  EXPECT_EQ(Point("executor.after_commit~ServerCrash:SEAL=pause@1").ToText(),
            "executor.after_commit~ServerCrash:SEAL=pause@1");
}

TEST(PointOrder, NamesWhatIsWrong) {
  const std::vector<std::pair<std::string, std::string>> cases = {{"log.never", "log.never"},
                                                                  {"", "''"},
                                                                  {"io.sync=explode", "explode"},
                                                                  {"io.sync=delay:long", "delay:long"},
                                                                  {"io.sync@often", "often"}};
  for (const auto& [text, wrong] : cases) {
    const auto order = ParsePoint(text);
    ASSERT_FALSE(order.ok()) << text;
    EXPECT_NE(order.error().message().find(wrong), std::string::npos) << order.error().message();
  }
  EXPECT_FALSE(ParseStep("ServerCrash").ok());
}

TEST(PointOrder, OfAStep) {
  const auto order = ParseStep("ServerCrash:SPLIT_LOG@2");
  ASSERT_TRUE(order.ok());
  EXPECT_EQ(order->ToText(), "executor.before_commit~ServerCrash:SPLIT_LOG=crash@2");
  EXPECT_TRUE(IsMastersPoint(*order));
  EXPECT_FALSE(IsMastersPoint(Point("log.before_sync")));
}

TEST(PointOrder, KindsWithParameters) {
  const auto at = MakeFault("at:log.before_sync");
  ASSERT_TRUE(at.ok());
  EXPECT_EQ((*at)->kind(), "at:log.before_sync");
  EXPECT_TRUE(MakeFault("step:ServerCrash:SEAL").ok());
  EXPECT_FALSE(MakeFault("at:log.never").ok());
}

}  // namespace
}  // namespace ratchet::chaos
