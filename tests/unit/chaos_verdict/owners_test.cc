#include "chaos/verdict/owners.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ratchet::chaos {
namespace {

using ::testing::HasSubstr;

// Two open regions, a closed one, and meta's own.
OwnerViews GoodViews() {
  OwnerViews views;
  views.master = {
      {"1588230740", {"OPEN", "s1"}}, {"r1", {"OPEN", "s1"}}, {"r2", {"OPEN", "s2"}}, {"r3", {"CLOSED", ""}}};
  views.meta = {{"r1", "s1"}, {"r2", "s2"}, {"r3", "s9"}};
  views.open = {{"1588230740", {"s1"}}, {"r1", {"s1"}}, {"r2", {"s2"}}};
  return views;
}

TEST(CompareOwnersTest, OneOwnerEachIsGood) {
  const Finding finding = CompareOwners(GoodViews());
  EXPECT_TRUE(finding.good) << finding.text;
  EXPECT_THAT(finding.text, HasSubstr("4 regions, 3 of them open"));
}

TEST(CompareOwnersTest, NothingSeenIsNoPass) { EXPECT_FALSE(CompareOwners({}).good); }

TEST(CompareOwnersTest, EachKindOfDisagreementIsNamed) {
  const auto expect_bad = [](const OwnerViews& views, const char* text) {
    const Finding finding = CompareOwners(views);
    EXPECT_FALSE(finding.good);
    EXPECT_THAT(finding.text, HasSubstr(text));
  };
  OwnerViews views = GoodViews();
  views.open["r1"].push_back("s2");
  expect_bad(views, "region r1 is open on 2 servers: s1 and s2");
  views = GoodViews();
  views.open.erase("r2");
  expect_bad(views, "region r2 is open on 0 servers");
  views = GoodViews();
  views.open["r2"] = {"s1"};
  expect_bad(views, "region r2 is open on s1, the master names s2");
  views = GoodViews();
  views.meta["r2"] = "s1";
  expect_bad(views, "region r2 is open on s2, meta names s1");
  views = GoodViews();
  views.open["r3"] = {"s1"};
  expect_bad(views, "region r3 is closed, but open on s1");
  views = GoodViews();
  views.open["ghost"] = {"s1"};
  expect_bad(views, "region ghost, open on s1, is not known to the master");
  views = GoodViews();
  views.meta["ghost"] = "s1";
  expect_bad(views, "region ghost of meta is not known to the master");
  views = GoodViews();
  views.meta.erase("r1");
  expect_bad(views, "region r1 is not in meta");
  views = GoodViews();
  views.master["r1"].state = "OPENING";
  expect_bad(views, "region r1 is OPENING");
}

}  // namespace
}  // namespace ratchet::chaos
