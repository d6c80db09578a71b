// The crash sweep of splits and merges, and of the removal of their leftovers.
#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "master/repair/reconciler.h"
#include "tests/crash/scenarios.h"

namespace ratchet::crash {
namespace {

// A split, a merge or a truncation that waits for the flush before it closes anything.
void AbortBeforeClose(Rig& rig, const std::string& type) {
  if (!rig.At("FlushRegion", "DISPATCH")) return;
  for (const ProcId pid : rig.cluster.master().executor().FindUnfinished(type)) {
    const auto info = rig.cluster.master().executor().Get(pid);
    if (info && !info->failing)
      rig.cluster.master().executor().Abort(pid, {"operator", "the sweep"}, [](const Status&) {});
  }
}

// Runs the janitor when no other work is left.
void CallJanitor(Rig& rig) {
  if (rig.cluster.master().ready() && rig.cluster.master().Unfinished().empty())
    rig.cluster.master().logic().reconciler.Sweep();
}
bool NothingIsLeftOver(Rig& rig) {
  const auto& rows = rig.cluster.meta().regions();
  return std::none_of(rows.begin(), rows.end(), [](const auto& row) {
    return row.second.state == RegionState::kSplit || !row.second.merged_from.empty();
  });
}
// Every region of the table, by start key.
std::vector<std::string> RegionsOf(Rig& rig) {
  std::map<std::string, std::string> by_start;
  for (const auto& [encoded, row] : rig.cluster.meta().regions()) by_start[row.region.start_key] = encoded;
  std::vector<std::string> encoded;
  for (const auto& [start, name] : by_start) encoded.push_back(name);
  return encoded;
}
sim::SimServer* FirstHost(Rig& rig) {
  for (sim::SimServer* server : rig.cluster.Alive()) {
    if (server->IsOpen(FirstRegion(rig))) return server;
  }
  return nullptr;
}
void SplitFirst(Rig& rig, const std::string& key, procedure::Nonce nonce, Done done) {
  Admin(rig).SplitRegion(FirstRegion(rig), key, {"me", nonce}, std::move(done));
}
void MergeAll(Rig& rig, procedure::Nonce nonce, Done done) {
  Admin(rig).MergeRegions(RegionsOf(rig), {"me", nonce}, std::move(done));
}

TEST(MasterCrash, SplitTableRegion) {
  Sweep({"split", [](Rig& rig) { Prepare(rig, 1); },
         [](Rig& rig, procedure::Nonce nonce, Done done) { SplitFirst(rig, "m", nonce, std::move(done)); }, nullptr,
         nullptr});
}

TEST(MasterCrash, SplitTableRegionAndWhatIsLeftOver) {
  Sweep({"split and left-overs", [](Rig& rig) { Prepare(rig, 1); },
         [](Rig& rig, procedure::Nonce nonce, Done done) { SplitFirst(rig, "", nonce, std::move(done)); }, CallJanitor,
         NothingIsLeftOver});
}

TEST(MasterCrash, SplitTableRegionWhoseServerDies) {
  Sweep({"split given up", [](Rig& rig) { Prepare(rig, 1); },
         [](Rig& rig, procedure::Nonce nonce, Done done) { SplitFirst(rig, "m", nonce, std::move(done)); },
         [](Rig& rig) {
           if (rig.At("CloseRegion", "DISPATCH")) KillOnce(rig, FirstHost);
         },
         CrashDealtWith});
}

TEST(MasterCrash, SplitTableRegionAborted) {
  Sweep({"aborted split", [](Rig& rig) { Prepare(rig, 1); },
         [](Rig& rig, procedure::Nonce nonce, Done done) { SplitFirst(rig, "m", nonce, std::move(done)); },
         [](Rig& rig) { AbortBeforeClose(rig, "SplitTableRegion"); }, nullptr});
}

TEST(MasterCrash, MergeTableRegions) {
  Sweep({"merge", [](Rig& rig) { Prepare(rig, 2); }, MergeAll, nullptr, nullptr});
}

TEST(MasterCrash, MergeTableRegionsAndWhatIsLeftOver) {
  Sweep({"merge and left-overs", [](Rig& rig) { Prepare(rig, 2); }, MergeAll, CallJanitor, NothingIsLeftOver});
}

TEST(MasterCrash, MergeTableRegionsOneOfWhoseServersDies) {
  Sweep({"merge given up", [](Rig& rig) { Prepare(rig, 2); }, MergeAll,
         [](Rig& rig) {
           if (rig.At("CloseRegion", "DISPATCH")) KillOnce(rig, FirstHost);
         },
         CrashDealtWith, /*breath=*/4});
}

TEST(MasterCrash, MergeTableRegionsAborted) {
  Sweep({"aborted merge", [](Rig& rig) { Prepare(rig, 2); }, MergeAll,
         [](Rig& rig) { AbortBeforeClose(rig, "MergeTableRegions"); }, nullptr});
}

void TruncateFirst(Rig& rig, procedure::Nonce nonce, Done done) {
  Admin(rig).TruncateRegion(FirstRegion(rig), {"me", nonce}, std::move(done));
}

TEST(MasterCrash, TruncateRegion) {
  Sweep({"truncated region", [](Rig& rig) { Prepare(rig, 2); }, TruncateFirst, nullptr, nullptr});
}

TEST(MasterCrash, TruncateRegionWhoseServerDies) {
  Sweep({"truncation given up", [](Rig& rig) { Prepare(rig, 2); }, TruncateFirst,
         [](Rig& rig) {
           if (rig.At("CloseRegion", "DISPATCH")) KillOnce(rig, FirstHost);
         },
         CrashDealtWith});
}

TEST(MasterCrash, TruncateRegionAborted) {
  Sweep({"aborted truncation", [](Rig& rig) { Prepare(rig, 1); }, TruncateFirst,
         [](Rig& rig) { AbortBeforeClose(rig, "TruncateRegion"); }, nullptr});
}

}  // namespace
}  // namespace ratchet::crash
