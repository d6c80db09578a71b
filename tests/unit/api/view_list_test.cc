#include "common/ops/api/view_list.h"

#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ratchet::api {
namespace {

TEST(ViewListTest, PathsLeadToTheirViews) {
  std::string part;
  ASSERT_NE(FindView("procedures", &part), nullptr);
  EXPECT_EQ(part, "");
  const View* one = FindView("procedure/17", &part);
  ASSERT_NE(one, nullptr);
  EXPECT_EQ(one->name, "procedure/");
  EXPECT_EQ(part, "17");
  ASSERT_NE(FindView("table/ns:t/x", &part), nullptr);
  EXPECT_EQ(part, "ns:t/x");
  for (const char* wrong : {"procedure/", "procedure", "nosuch", "procedures/", "Cluster", ""}) {
    EXPECT_EQ(FindView(wrong, &part), nullptr) << wrong;
  }
}

TEST(ViewListTest, EachViewIsDocumentedAndNamesItsCommand) {
  std::ifstream file("docs/http-api.md");
  const std::string document{std::istreambuf_iterator<char>(file), {}};
  std::set<std::string_view> names;
  for (const View& view : Views()) {
    EXPECT_TRUE(names.insert(view.name).second) << view.name;
    EXPECT_THAT(document, ::testing::HasSubstr("| `/api/v1/" + std::string(view.name))) << view.name;
    EXPECT_TRUE(view.command.starts_with("ratchet ")) << view.name;
    EXPECT_TRUE(view.what.ends_with('.')) << view.name;
  }
  EXPECT_GE(names.size(), 15U);
}

}  // namespace
}  // namespace ratchet::api
