#include "chaos/cluster/zookeeper_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ratchet::chaos {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ZooKeeperSpec Spec() {
  ZooKeeperSpec spec;
  spec.dir = "/cluster/zookeeper-2";
  spec.port = 20001;
  return spec;
}

TEST(ZooKeeperConfigTest, TheOnlyServerKnowsOfNoOther) {
  const std::string text = ZooKeeperConfiguration(Spec());
  EXPECT_THAT(text, HasSubstr("\nclientPort=20001\n"));
  EXPECT_THAT(text, HasSubstr("\ndataDir=/cluster/zookeeper-2/data\n"));
  EXPECT_THAT(text, HasSubstr("tickTime=200\n"));
  EXPECT_THAT(text, HasSubstr("\nminSessionTimeout=400\n"));
  EXPECT_THAT(text, Not(HasSubstr("server.")));
}

TEST(ZooKeeperConfigTest, EachMemberKnowsAllByTheirNumbers) {
  ZooKeeperSpec spec = Spec();
  spec.number = 2;
  spec.peers = {{21, 31}, {22, 32}, {23, 33}};
  const std::string text = ZooKeeperConfiguration(spec);
  EXPECT_THAT(text, HasSubstr("\nserver.1=127.0.0.1:21:31\nserver.2=127.0.0.1:22:32\nserver.3=127.0.0.1:23:33\n"));
  // A silent leader is replaced by another one within the usual session of two seconds.
  EXPECT_THAT(text, HasSubstr("\nsyncLimit=5\n"));
}

TEST(ZooKeeperConfigTest, AnEnsembleIsOddAndSmall) {
  for (const int members : {1, 3, 5}) EXPECT_TRUE(CheckZooKeeperMembers(members).ok()) << members;
  for (const int members : {-1, 0, 2, 4, 6, 7}) {
    const Status checked = CheckZooKeeperMembers(members);
    ASSERT_FALSE(checked.ok()) << members;
    EXPECT_EQ(checked.error().code(), Code::kInvalidArgument);
    EXPECT_THAT(checked.error().message(), HasSubstr("expected 1, 3 or 5"));
  }
}

TEST(ZooKeeperConfigTest, OnlyMembersOfAnEnsembleAreNumbered) {
  EXPECT_EQ(ZooKeeperName(1, 1), "zookeeper");
  EXPECT_EQ(ZooKeeperName(1, 3), "zookeeper-1");
  EXPECT_EQ(ZooKeeperName(3, 3), "zookeeper-3");
}

TEST(ZooKeeperConfigTest, WhatAServerSaysThatItIs) {
  const auto leader =
      ParseZooKeeperState("Zookeeper version: 3.8.0\nSent: 12\nZxid: 0x1200000003\nMode: leader\nNode count: 5\n");
  EXPECT_EQ(leader.mode, "leader");
  EXPECT_EQ(leader.epoch, 0x12U);
  EXPECT_EQ(ParseZooKeeperState("Mode: follower").mode, "follower");
  for (const char* none : {"", "This ZooKeeper instance is not currently serving requests\n"}) {
    EXPECT_EQ(ParseZooKeeperState(none).mode, "");
    EXPECT_EQ(ParseZooKeeperState(none).epoch, 0U);
  }
}

}  // namespace
}  // namespace ratchet::chaos
