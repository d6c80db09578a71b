#include "common/base/setting_value.h"

#include <gtest/gtest.h>

namespace ratchet {
namespace {

TEST(SettingValueTest, DurationsHaveUnits) {
  EXPECT_EQ(*ParseMillis("1500"), Millis(1500));
  EXPECT_EQ(*ParseMillis("1500ms"), Millis(1500));
  EXPECT_EQ(*ParseMillis("2 s"), Millis(2000));
  EXPECT_EQ(*ParseMillis("5min"), Millis(300'000));
  EXPECT_EQ(*ParseMillis("1h"), Millis(3'600'000));
  for (const char* wrong : {"", "s", "2sec", "1.5s", "9223372036854775807h", "--3"}) {
    EXPECT_FALSE(ParseMillis(wrong).ok()) << wrong;
  }
}

TEST(SettingValueTest, SizesHaveBinaryUnits) {
  EXPECT_EQ(*ParseBytes("0"), 0u);
  EXPECT_EQ(*ParseBytes("64KiB"), 65536u);
  EXPECT_EQ(*ParseBytes("2GiB"), 2ULL << 30);
  for (const char* wrong : {"", "-1", "64KB", "1e3", "99999999999GiB"}) EXPECT_FALSE(ParseBytes(wrong).ok()) << wrong;
  EXPECT_EQ(FormatBytes(65536), "64KiB");
  EXPECT_EQ(FormatBytes(65537), "65537");
  EXPECT_EQ(FormatBytes(0), "0");
}

TEST(SettingValueTest, NumbersAreWhole) {
  EXPECT_EQ(*ParseInt("-7"), -7);
  for (const char* wrong : {"", "7x", "0x10", " 7", "7.0", "99999999999999999999"})
    EXPECT_FALSE(ParseInt(wrong).ok()) << wrong;
  EXPECT_EQ(*ParseDouble("0.25"), 0.25);
  for (const char* wrong : {"", "nan", "inf", "1,5"}) EXPECT_FALSE(ParseDouble(wrong).ok()) << wrong;
  EXPECT_TRUE(*ParseBool("yes"));
  EXPECT_FALSE(*ParseBool("off"));
  EXPECT_FALSE(ParseBool("maybe").ok());
}

}  // namespace
}  // namespace ratchet
