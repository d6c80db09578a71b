#include "master/process/own_rights.h"

#include <gtest/gtest.h>

#include "tests/support/manual_time.h"

namespace ratchet::master {
namespace {

TEST(OwnRightsTest, AMasterWithoutAGateHasNone) {
  const std::unique_ptr<MasterGate> gate;
  const OwnRights rights(gate);
  EXPECT_EQ(rights.image(), nullptr);
  EXPECT_EQ(rights.token_keys(), nullptr);
  EXPECT_NE(rights.WhyNone().message().find("this master is starting"), std::string::npos);
}

TEST(OwnRightsTest, AMasterThatIsNotActiveHasNone) {
  ManualTime time;
  const auto gate = std::make_unique<MasterGate>(ServerName{"h", 1, 1}, "cluster-x", "test", time);
  const OwnRights rights(gate);
  EXPECT_EQ(rights.image(), nullptr);
  EXPECT_EQ(rights.token_keys(), nullptr);
  EXPECT_FALSE(rights.WhyNone().message().empty());
}

}  // namespace
}  // namespace ratchet::master
