// Impossible requests to a region server's data service with a real region: it answers or refuses each, and the region
// continues to serve.
#include <gtest/gtest.h>

#include "chaos/hostile/hostile_client.h"
#include "tests/unit/regionserver_server/service_fixture.h"

namespace ratchet::regionserver {
namespace {

constexpr std::uint64_t kRequests = 3'000;

// Runs without the cluster's key, and with it. With the key the values also reach methods for members only.
class HostileRequestsTest : public ServiceFixture, public testing::WithParamInterface<const char*> {};

TEST_P(HostileRequestsTest, TheDataServiceRefusesAndServesOn) {
  const std::uint64_t seed = RandomSeed();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  const RegionInfo region = TableRegion();
  ASSERT_EQ(OpenRegion(region).outcome, OrderOutcome::kOpened);
  ASSERT_EQ(OpenRegion(MetaRegionInfo()).outcome, OrderOutcome::kOpened);
  ASSERT_TRUE(Put(region, "kept", "q", "v").ok());
  // Uses existing rows, families and the region itself, so that requests reach the code after the first check.
  chaos::HostileClient hostile(
      {"127.0.0.1", server_->port()}, seed,
      {region.name(), region.encoded_name(), "hostile", "hostile2", "f", MetaRegionInfo().name()}, GetParam());
  for (std::uint64_t i = 0; i < kRequests; ++i) {
    hostile.SendOne();
    ASSERT_TRUE(deaths_.empty()) << deaths_.front().second << " after " << hostile.last();
  }
  EXPECT_EQ(hostile.counts().sent, kRequests);
  EXPECT_EQ(hostile.counts().unanswered, 0U) << hostile.last();
  EXPECT_GT(hostile.counts().refused, 0U);
  const auto kept = Get(region, "kept");
  ASSERT_TRUE(kept.ok()) << kept.error().ToString();
  EXPECT_EQ(Text(kept->message.result(), kept->cells), "q=v");
  EXPECT_TRUE(Put(region, "after", "q", "v").ok());
}

INSTANTIATE_TEST_SUITE_P(Keys, HostileRequestsTest, testing::Values("", "the key"));

}  // namespace
}  // namespace ratchet::regionserver
