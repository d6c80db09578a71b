#include "chaos/faults/container_engine.h"

#include <gtest/gtest.h>

namespace ratchet::chaos {
namespace {

TEST(ContainerEngine, ReadsItsList) {
  const auto containers = ParseContainers("b2 regionserver 2\na1 master1 1\nb1 regionserver 1\n");
  ASSERT_TRUE(containers.ok());
  ASSERT_EQ(containers->size(), 3U);
  EXPECT_EQ((*containers)[0].id, "a1");
  EXPECT_EQ((*containers)[1].id, "b1");
  EXPECT_EQ((*containers)[2].number, 2);
  EXPECT_TRUE(ParseContainers("")->empty());
}

TEST(ContainerEngine, NamesALineThatItCannotRead) {
  const auto containers = ParseContainers("a1 master1 1\nCannot connect\n");
  ASSERT_FALSE(containers.ok());
  EXPECT_NE(containers.error().message().find("Cannot connect"), std::string::npos);
}

TEST(ContainerEngine, ProjectsAreNamedAsComposeDoes) {
  EXPECT_EQ(DefaultProject("Ratchet"), "ratchet");
  EXPECT_EQ(DefaultProject("my.ratchet_2-x"), "myratchet_2-x");
}

}  // namespace
}  // namespace ratchet::chaos
