// What the master's ticks cost: they follow what has changed, not how many regions there are. Counted, never timed.
#include <gtest/gtest.h>

#include "master/assignment/placement.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

TEST(PlacementCostTest, APlanLooksAtServersAndAtNoOtherPlan) {
  const std::vector<ServerName> servers{{"a", 1, 1}, {"b", 1, 1}, {"c", 1, 1}};
  Placement placement;
  const auto plan = [&](int region) { return *placement.Choose({std::to_string(region), {}, {}, false, {}}, servers, {}); };
  std::map<ServerName, int> planned;
  for (int region = 0; region < 300; ++region) ++planned[plan(region)];
  EXPECT_EQ(planned, (std::map<ServerName, int>{{servers[0], 100}, {servers[1], 100}, {servers[2], 100}}));
  const std::uint64_t before = placement.weighed();
  plan(300);
  EXPECT_EQ(placement.weighed() - before, servers.size());
}

TEST(PlacementCostTest, APlanThatIsSettledOrMadeAnewCountsNoLonger) {
  const std::vector<ServerName> servers{{"a", 1, 1}, {"b", 1, 1}};
  Placement placement;
  for (int i = 0; i < 10; ++i) placement.Choose({"x", servers[0], {}, false, {}}, servers, {});  // one plan, not ten
  for (int i = 0; i < 5; ++i) placement.Choose({"y" + std::to_string(i), servers[0], {}, false, {}}, servers, {});
  for (int i = 0; i < 5; ++i) placement.Settled("y" + std::to_string(i));
  placement.Settled("y0");
  placement.Choose({"z", servers[1], {}, false, {}}, servers, {});
  placement.Choose({"w", servers[1], {}, false, {}}, servers, {});
  EXPECT_EQ(*placement.Choose({"v", {}, {}, false, {}}, servers, {}), servers[0]);  // one plan there, two at the other
}

}  // namespace
}  // namespace ratchet::master
