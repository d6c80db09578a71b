// A simulated cluster and the requests of tests to it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "master/cluster/region_directory.h"
#include "master/requests/server_manager.h"
#include "master/requests/table_admin.h"
#include "tests/support/master_world/sim_cluster.h"

namespace ratchet::master {

class MasterTest : public ::testing::Test {
 protected:
  using Done = TableAdmin::Done;

  static TableDescriptor Descriptor(const std::string& name) {
    TableDescriptor descriptor;
    descriptor.name = TableName("default", name);
    descriptor.families.push_back(DefaultFamily("f"));
    return descriptor;
  }
  static std::vector<std::string> Splits(int regions) {
    std::vector<std::string> keys;
    for (int i = 1; i < regions; ++i) keys.push_back(std::string(1, static_cast<char>('a' + i)));
    return keys;
  }
  sim::SimMaster& master() { return cluster_.master(); }
  TableAdmin& admin() { return master().logic().admin; }

  Result<ProcId> Create(const std::string& name, int regions, procedure::Nonce nonce = {}) {
    return master().Ask([&](Done done) {
      admin().CreateTable(Descriptor(name), Splits(regions), {"me", nonce}, done);
    });
  }
  Result<ProcId> Enable(const std::string& name) {
    return master().Ask([&](Done done) { admin().EnableTable(TableName("default", name), {"me", {}}, done); });
  }
  Result<ProcId> Disable(const std::string& name) {
    return master().Ask([&](Done done) { admin().DisableTable(TableName("default", name), {"me", {}}, done); });
  }
  Result<ProcId> Delete(const std::string& name) {
    return master().Ask([&](Done done) { admin().DeleteTable(TableName("default", name), {"me", {}}, done); });
  }
  Result<ProcId> Move(const std::string& region, std::optional<ServerName> target = std::nullopt) {
    return master().Ask([&](Done done) { admin().MoveRegion(region, {target}, {"me", {}}, done); });
  }
  Result<ProcId> Assign(const std::string& region) {
    return master().Ask([&](Done done) { admin().AssignRegion(region, {"me", {}}, done); });
  }
  Result<ProcId> Unassign(const std::string& region) {
    return master().Ask([&](Done done) { admin().UnassignRegion(region, {"me", {}}, done); });
  }

  // "success", or the error of the procedure.
  std::string Outcome(const Result<ProcId>& pid) {
    if (!pid.ok()) return pid.error().ToString();
    const procedure::ProcedureResult result = master().executor().GetResult(*pid);
    if (result.error) return result.error->ToString();
    return result.finished() ? "success" : "unfinished";
  }
  // A table with `regions` regions, all open.
  void GivenTable(const std::string& name, int regions) {
    const auto pid = Create(name, regions);
    ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
    ASSERT_EQ(Outcome(pid), "success");
    cluster_.WriteEverywhere();
  }
  std::vector<RegionNode> Regions(const std::string& table) {
    return master().logic().regions.OfTable(TableName("default", table));
  }
  std::string Encoded(const std::string& table, std::size_t at = 0) { return Regions(table)[at].info.encoded_name(); }
  sim::SimServer& HostOf(const std::string& encoded) {
    return *cluster_.Find(*master().logic().regions.Get(encoded)->location);
  }
  sim::SimServer& MetaHost() { return HostOf(std::string(kMetaEncodedName)); }
  sim::SimServer& OtherThan(const sim::SimServer& server) {
    for (sim::SimServer* other : cluster_.Alive()) {
      if (other != &server) return *other;
    }
    ADD_FAILURE() << "no other server";
    return *cluster_.Alive().front();
  }
  // Bypasses the only unfinished procedure of its type, with its descendants; repeated until no order in progress
  // refuses the bypass.
  void BypassTheOnly(const char* type) {
    const auto stuck = master().executor().FindUnfinished(type);
    ASSERT_EQ(stuck.size(), 1U) << type;
    std::string answer;
    ASSERT_TRUE(cluster_.RunUntil([&] {
      master().executor().Bypass(stuck[0], true, {"op", "enough"},
                                 [&](const Status& status) { answer = status.ok() ? "ok" : status.error().message(); });
      return master().executor().GetResult(stuck[0]).finished();
    })) << answer;
  }
  // The sessions of the servers end with them.
  void AllProcessesDie() {
    for (sim::SimServer* server : cluster_.Alive()) {
      const ServerName name = server->name();
      cluster_.Kill(*server);
      cluster_.SessionEnds(name, Millis(10));
    }
    cluster_.KillMaster();
    ASSERT_TRUE(cluster_.RunFor(Millis(100)));
  }
  // The first check's findings are repaired, and the second check sees the result.
  void LetTheReconcilerLookTwice() {
    for (int look = 0; look < 2; ++look) {
      ASSERT_TRUE(cluster_.RunFor(Millis(1'100)));
      master().logic().reconciler.Sweep();
    }
    ExpectSettled();
  }
  // Checks that all work has ended in a correct state.
  void ExpectSettled() {
    ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
    EXPECT_EQ(cluster_.CheckSettled(), "");
  }
  // ExpectSettled, and the client's view: the table has this number of regions, each is open, accepts a write, and has
  // every earlier one.
  void ExpectServed(const std::string& table, std::size_t regions) {
    ExpectSettled();
    ASSERT_EQ(Regions(table).size(), regions);
    std::map<std::string, std::uint64_t> before = cluster_.storage().acknowledged;
    cluster_.WriteEverywhere();
    for (const RegionNode& node : Regions(table)) {
      const std::string encoded = node.info.encoded_name();
      EXPECT_EQ(node.state, RegionState::kOpen) << encoded;
      EXPECT_GT(before[encoded], 0U) << encoded << " had no write to lose";
      EXPECT_EQ(cluster_.storage().acknowledged[encoded], before[encoded] + 1) << encoded;
    }
    EXPECT_EQ(cluster_.CheckSettled(), "");
  }

  sim::SimCluster cluster_;
};

}  // namespace ratchet::master
