// Splits, merges and truncations of regions in a simulated cluster.
#pragma once

#include <string>
#include <vector>

#include "common/model/region_state.h"
#include "master/repair/reconciler.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {

class ReshapeTest : public MasterTest {
 protected:
  Result<ProcId> Split(const std::string& region, const std::string& key, procedure::Nonce nonce = {}) {
    return master().Ask([&](Done done) { admin().SplitRegion(region, key, {"me", nonce}, done); });
  }
  Result<ProcId> Merge(const std::vector<std::string>& regions, procedure::Nonce nonce = {}) {
    return master().Ask([&](Done done) { admin().MergeRegions(regions, {"me", nonce}, done); });
  }
  Result<ProcId> Truncate(const std::string& region) {
    return master().Ask([&](Done done) { admin().TruncateRegion(region, {"me", {}}, done); });
  }
  // Runs until a procedure of `type` is in the state `step`.
  bool RunTo(const std::string& type, const std::string& step) {
    return cluster_.RunUntil([&] {
      for (const ProcId pid : master().executor().FindUnfinished(type)) {
        const auto info = master().executor().Get(pid);
        if (info && info->step_name == step) return true;
      }
      return false;
    });
  }
  // The regions that have the table's rows.
  std::vector<RegionNode> Live() {
    std::vector<RegionNode> live = Regions("t");
    std::erase_if(live, [](const RegionNode& node) { return !HasItsRows(node.state); });
    return live;
  }
  void ExpectLive(std::size_t regions) {
    ExpectSettled();
    ASSERT_EQ(Live().size(), regions);
    for (const RegionNode& node : Live()) EXPECT_EQ(node.state, RegionState::kOpen) << node.encoded;
    cluster_.WriteEverywhere();
    EXPECT_EQ(cluster_.CheckSettled(), "");
  }
  // Directories of regions.
  std::size_t Directories() {
    std::size_t count = 0;
    for (const auto& [directory, files] : cluster_.storage().tables) {
      if (directory.starts_with("default/t.")) count += files.regions.size();
    }
    return count;
  }
  void GivenTwoRegionsOnTwoServers();
  void ExpectTheLostRegionOpensWhileTheOtherHangs(const Result<ProcId>& merged);
  [[nodiscard]] bool OpensTheLostRegionElsewhere();
  std::string LocationOfTheLostRegionAfterAFailover();
  bool ParentsRowComesBack();
  std::size_t DirectoriesLeftBehind(const std::string& then);
  void LetTheJanitorCome() {
    for (int i = 0; i < 2; ++i) {
      master().logic().reconciler.Sweep();
      ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
    }
  }

  std::string lost_;  // encoded names of regions whose server dies, or hangs
  std::string hung_;
};

}  // namespace ratchet::master
