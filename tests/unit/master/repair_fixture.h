// The fixture for tests of MendTable: damage, twins, and the checks of a repaired table.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "master/cluster/key_ranges.h"
#include "master/procedures/table/mend_table.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {

class RepairTest : public MasterTest {
 protected:
  Result<ProcId> GiveUp(const std::string& region, procedure::Nonce nonce = {}) {
    return master().Ask([&](Done done) { admin().GiveUpRegion(region, {"me", nonce}, done); });
  }
  Result<ProcId> FillHoles(const std::string& table) {
    return master().Ask([&](Done done) { admin().FillHoles(TableName("default", table), {"me", {}}, done); });
  }
  std::string Said(const Result<ProcId>& pid) {
    return pid.ok() ? master().executor().GetResult(*pid).result : pid.error().message();
  }
  TableState State(const std::string& table) { return master().logic().tables.Get(TableName("default", table))->state; }
  // Rows of the table in hbase:meta, as clients see them.
  std::vector<KeyRange> HolesInMeta(const std::string& table) {
    std::vector<RegionNode> nodes;
    for (const auto& [encoded, row] : cluster_.meta().regions()) {
      RegionNode node;
      node.info = row.region;
      if (row.region.table == TableName("default", table)) nodes.push_back(node);
    }
    return Uncovered({}, nodes);
  }
  // A table with three regions of which the middle one cannot be opened: its enabling does not end.
  std::string GivenDamage() {
    cluster_.Boot(3);
    GivenTable("t", 3);
    const std::string encoded = Encoded("t", 1);
    EXPECT_EQ(Outcome(Settled(Disable("t"))), "success");
    cluster_.storage().damaged.insert(encoded);
    enable_ = Enable("t");
    EXPECT_TRUE(cluster_.RunFor(Millis(5'000)));
    EXPECT_EQ(Outcome(enable_), "unfinished");
    EXPECT_EQ(State("t"), TableState::kEnabling);
    return encoded;
  }
  sim::TableFiles& FilesOf(const std::string& table) {
    return cluster_.storage().tables.at(cluster_.meta().tables().at(TableName("default", table)).directory);
  }
  // A disabled table whose descriptor cannot be read is enabled: its assignments wait for the descriptor.
  std::string GivenARegionThatWaitsForItsSchema() {
    cluster_.Boot(3);
    GivenTable("t", 3);
    const std::string encoded = Encoded("t", 1);
    EXPECT_EQ(Outcome(Settled(Disable("t"))), "success");
    FilesOf("t").descriptor_damaged = true;
    cluster_.StartMaster();
    EXPECT_TRUE(cluster_.Settle());
    enable_ = Enable("t");
    EXPECT_TRUE(cluster_.RunUntil([&] { return Node(encoded).failed_opens > 0; }));
    EXPECT_EQ(Node(encoded).state, RegionState::kClosed);
    return encoded;
  }
  // The assignment of the region ends for a give-up, which is parked.
  std::string GivenAParkedGiveUp() {
    const std::string encoded = GivenARegionThatWaitsForItsSchema();
    ParkAGiveUp(encoded);
    return encoded;
  }
  RegionNode Node(const std::string& encoded) { return *master().logic().regions.Get(encoded); }
  void ParkAGiveUp(const std::string& encoded) {
    ASSERT_TRUE(cluster_.RunUntil([&] { return Node(encoded).owner.valid() && Node(encoded).failed_opens > 0; }));
    give_up_ = GiveUp(encoded);
    ASSERT_TRUE(give_up_.ok()) << give_up_.error().ToString();
    ASSERT_TRUE(cluster_.RunUntil([&] { return !Node(encoded).owner.valid(); }));
    bool parked = false;
    master().executor().Park(*give_up_, {"me", "test"}, [&](const Status& status) { parked = status.ok(); });
    ASSERT_TRUE(cluster_.RunUntil([&] { return parked; }));
  }
  // The parked give-up ends without giving the region up, and the descriptor can be read again.
  void AbortTheGiveUp() {
    FilesOf("t").descriptor_damaged = false;
    master().executor().Abort(*give_up_, {"me", "test"}, [](const Status&) {});
    ASSERT_TRUE(cluster_.RunUntil([&] { return Outcome(give_up_) != "unfinished"; }));
    EXPECT_NE(Outcome(give_up_), "success");
  }
  // A CreateTable of the same name that an operator ended left its row. EnableTable waits for the repair.
  void GivenARowOfAnEarlierTable(const std::string& of) {
    RegionRow row = cluster_.meta().regions().at(of);
    row.region.region_id -= 10;
    row.state = RegionState::kClosed;
    row.location.reset();
    row.transition = 1;
    cluster_.meta().mutable_regions()[row.region.encoded_name()] = row;
  }
  // Two regions have the middle rows of a table; the returned one is closed.
  std::string GivenTwins() {
    cluster_.Boot(3);
    GivenTable("t", 3);
    RegionRow row = cluster_.meta().regions().at(Encoded("t", 1));
    row.region.region_id += 50;
    row.state = RegionState::kClosed;
    const std::string twin = row.region.encoded_name();
    cluster_.meta().mutable_regions()[twin] = row;
    cluster_.storage().tables.at(cluster_.meta().tables().begin()->second.directory).regions.insert(twin);
    cluster_.KillMaster();
    cluster_.StartMaster();
    EXPECT_TRUE(cluster_.Settle());
    return twin;
  }
  // Longer than the reconciler's patience: the findings of two checks are repaired.
  void CompareOften() {
    for (int look = 0; look < 4; ++look) {
      ASSERT_TRUE(cluster_.RunFor(Millis(1'100)));
      master().logic().reconciler.LookNow();
      master().logic().reconciler.CompareWithMeta([](const Status&) {});
    }
    ASSERT_TRUE(cluster_.RunFor(Millis(500)));
  }
  Result<ProcId> Settled(Result<ProcId> pid) {
    EXPECT_TRUE(cluster_.Settle()) << master().Unfinished();
    return pid;
  }
  void ExpectRepaired(const std::string& given_up) {
    ExpectSettled();
    EXPECT_EQ(State("t"), TableState::kEnabled);
    ASSERT_EQ(Regions("t").size(), 3U);
    EXPECT_TRUE(RangeProblems(TableName("default", "t"), Regions("t"), 10).empty());
    EXPECT_TRUE(HolesInMeta("t").empty());
    for (const RegionNode& node : Regions("t")) EXPECT_NE(node.info.encoded_name(), given_up);
    cluster_.WriteEverywhere();
    ExpectServed("t", 3);
  }

  Result<ProcId> enable_ = Error(Code::kInternal, "not asked");
  Result<ProcId> give_up_ = Error(Code::kInternal, "not asked");
};

}  // namespace ratchet::master
