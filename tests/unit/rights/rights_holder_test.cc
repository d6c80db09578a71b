#include "common/rights/rights_holder.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "tests/support/expect_killed.h"

namespace ratchet::rights {
namespace {

std::shared_ptr<const RightsImage> Image(std::uint64_t epoch, std::uint64_t number) {
  return std::make_shared<const RightsImage>(ImageNumber{epoch, number}, std::vector<RightsEntry>{},
                                             std::vector<Scope>{});
}

void OlderImagesAreRefused() {
  RightsHolder holder;
  EXPECT_TRUE(holder.Take(Image(2, 5)));
  EXPECT_FALSE(holder.Take(Image(2, 4))) << "an earlier change was taken";
  EXPECT_FALSE(holder.Take(Image(1, 9))) << "an older master's image was taken";
  EXPECT_TRUE(holder.Take(Image(2, 5)));
  EXPECT_EQ(holder.image()->number(), (ImageNumber{2, 5}));
  EXPECT_TRUE(holder.Take(Image(3, 1)));
  EXPECT_EQ(holder.image()->number(), (ImageNumber{3, 1}));
}

TEST(RightsHolderTest, ItIsEmptyAtFirst) { EXPECT_EQ(RightsHolder().image(), nullptr); }

TEST(RightsHolderTest, AnOlderImageIsRefused) { OlderImagesAreRefused(); }
TEST(RightsHolderTest, AnOlderImageIsNoticed) {
  ExpectKilled("rights.go_back", OlderImagesAreRefused, "an earlier change was taken");
}

}  // namespace
}  // namespace ratchet::rights
