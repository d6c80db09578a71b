#include "procedure/api/description.h"

#include <gtest/gtest.h>

namespace ratchet::procedure {
namespace {

TEST(Description, TextAndFieldsComeFromTheSameCalls) {
  Description about;
  about.Add("table", "t").Add("regions", 3).Note("ASSIGN").Section().Add("server", "rs1,16020,17").Add("retain", true);
  EXPECT_EQ(about.text(), "table=t, regions=3, ASSIGN; server=rs1,16020,17, retain=true");
  EXPECT_EQ(about.Get("server"), "rs1,16020,17") << "a value may have commas";
  EXPECT_EQ(about.Get("retain"), "true");
  EXPECT_EQ(about.Get("ASSIGN"), "");
  const auto fields = about.Fields();
  ASSERT_EQ(fields.size(), 4U);
  EXPECT_EQ(fields[1].first, "regions");
  EXPECT_EQ(fields[1].second, "3");
}

TEST(Description, SectionBeforeTheFirstFieldAndAnEmptyRemark) {
  EXPECT_EQ(Description().Section().Add("timeout", "5ms").text(), "timeout=5ms");
  EXPECT_EQ(Description().Add("timeout", "5ms").Section().Note("").text(), "timeout=5ms; ");
  EXPECT_EQ(Description().text(), "");
}

TEST(Description, FirstOfTwoEqualKeysIsReturned) {
  const Description about = Description().Add("region", "a").Add("region", "b");
  EXPECT_EQ(about.Get("region"), "a");
  const Description copy = about;
  EXPECT_EQ(copy.Get("region"), "a");
}

}  // namespace
}  // namespace ratchet::procedure
