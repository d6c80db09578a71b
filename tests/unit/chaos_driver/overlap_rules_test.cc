// Which faults may overlap: one master, one server and a majority of ZooKeeper's members are left.
#include "chaos/driver/overlap_rules.h"

#include <gtest/gtest.h>

#include "chaos/faults/fault.h"

namespace ratchet::chaos {
namespace {

constexpr ClusterSize kUsual{2, 3, 3};

bool May(const std::vector<std::string>& others, std::string_view kind, const ClusterSize& size = kUsual) {
  return MayOverlap(size, others, others, kind);
}

TEST(OverlapRulesTest, EveryKindSaysWhatItTakes) {
  for (const auto kind : FaultKinds()) EXPECT_TRUE(IsTollListed(kind)) << kind << " is missing in overlap_rules.cc";
}

TEST(OverlapRulesTest, AKindThatIsNotListedIsAlone) {
  EXPECT_TRUE(May({}, "at:io.sync=fail"));
  EXPECT_FALSE(May({"kill-server"}, "at:io.sync=fail"));
  EXPECT_FALSE(May({"at:io.sync=fail"}, "kill-server"));
}

TEST(OverlapRulesTest, OneMasterIsLeft) {
  EXPECT_TRUE(May({"kill-server"}, "kill-active-master"));
  EXPECT_FALSE(May({"kill-standby"}, "kill-active-master"));
  EXPECT_TRUE(May({"kill-standby"}, "kill-active-master", {3, 3, 3}));
}

TEST(OverlapRulesTest, OneServerIsLeft) {
  EXPECT_TRUE(May({"kill-server"}, "pause-server"));
  EXPECT_FALSE(May({"kill-server", "pause-server"}, "isolate-server"));
  EXPECT_FALSE(May({"kill-some"}, "kill-server"));
  EXPECT_FALSE(May({"kill-server"}, "pause-server", {2, 2, 3}));
}

TEST(OverlapRulesTest, AMajorityOfZooKeepersMembersIsLeft) {
  EXPECT_TRUE(May({"kill-server"}, "kill-zookeeper"));
  EXPECT_FALSE(May({"kill-zookeeper"}, "pause-zookeeper-leader"));
  EXPECT_TRUE(May({"kill-zookeeper"}, "pause-zookeeper-leader", {2, 3, 5}));
  EXPECT_FALSE(May({"kill-server"}, "kill-zookeeper", {2, 3, 1}));
}

TEST(OverlapRulesTest, AToolTakesOneOrderAtATime) {
  EXPECT_FALSE(May({"slow-link"}, "lossy-links"));
  EXPECT_FALSE(May({"slow-sync"}, "read-error", {9, 9, 3}));
  EXPECT_TRUE(May({"slow-link"}, "slow-sync"));
}

// A fault that takes the whole cluster waits until everything has recovered, and every other fault waits for it.
TEST(OverlapRulesTest, WhatTakesTheWholeClusterIsAlone) {
  EXPECT_FALSE(MayOverlap(kUsual, {}, {"kill-server"}, "pause-everything"));
  EXPECT_FALSE(MayOverlap(kUsual, {}, {"pause-everything"}, "kill-server"));
  EXPECT_TRUE(MayOverlap(kUsual, {}, {"kill-server"}, "kill-server"));
  EXPECT_TRUE(MayOverlap(kUsual, {}, {}, "pause-everything"));
}

}  // namespace
}  // namespace ratchet::chaos
