// The steps of a master's procedures, and the test of the sweep on real processes that kills a master at each of them.
#pragma once

#include <array>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <rapidjson/document.h>

namespace ratchet::chaos {

struct Step {
  std::string type;
  std::string name;
  [[nodiscard]] std::string Detail() const { return type + ":" + name; }
};

inline std::vector<Step> ListSteps() {
  const auto bin = std::filesystem::canonical("/proc/self/exe").parent_path().parent_path() / "bin";
  const std::string command = (bin / "ratchet-master").string() + " --list-steps --json";
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  std::array<char, 4096> buffer{};
  while (pipe != nullptr && std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) text += buffer.data();
  if (pipe != nullptr) pclose(pipe);
  rapidjson::Document document;
  document.Parse(text.c_str());
  std::vector<Step> steps;
  if (!document.IsArray()) return steps;
  for (const auto& type : document.GetArray()) {
    for (const auto& step : type["steps"].GetArray())
      steps.push_back({type["type"].GetString(), step["name"].GetString()});
  }
  return steps;
}

// Only records of earlier versions are in these steps (master/procedures/core/remote_order.h).
inline bool IsOfEarlierVersions(const Step& step) {
  const bool order = step.type == "OpenRegion" || step.type == "CloseRegion" || step.type == "SplitWalRemote";
  return order && step.name != "DISPATCH";
}

// Steps that need a race that real processes cannot be forced into; the in-process sweep (tests/crash) reaches them.
inline bool SweptInProcessOnly(const Step& step) {
  static const std::set<std::string> steps = {
      "DeleteTable:SET_DISABLING_TABLE_STATE",  // the table is ENABLING, and its procedure is paused without the lock
      "DeleteTable:MARK_REGIONS_OFFLINE",
      // A parent's server dies while it closes the region.
      "SplitTableRegion:GIVE_UP",
      "SplitTableRegion:REMOVE_DAUGHTER_REGIONS",
      "MergeTableRegions:GIVE_UP",
      "MergeTableRegions:REMOVE_MERGED_REGION",
      "TruncateRegion:GIVE_UP",
      "TruncateRegion:REMOVE_NEW_REGION",
      // A server refuses a region of a batch, or opens a region slowly.
      "AssignBatch:SHOW_PART",
      "AssignBatch:END",
      // These need a right of what is dropped.
      "DeleteTable:TAKE_RIGHTS",
      "ModifyTable:TAKE_RIGHTS",
      "DeleteNamespace:TAKE_RIGHTS",
      "RestoreSnapshot:TAKE_RIGHTS",
      // These steps need a user with a certificate: tests/cluster/audit_test.cc.
      "ChangeTokens:PRE_CHANGE_TOKENS",
      "ChangeTokens:WRITE_TOKENS",
      "ChangeTokens:TELL_REGION_SERVERS",
      "ChangeTokens:POST_TOKENS",
      // These steps need another cluster: tests/cluster/replication_test.cc.
      "ClaimReplicationQueues:CLAIM",
      "ClaimReplicationQueues:SHOW",
      "RetireReplicationQueue:ARCHIVE_LOGS",
      "RetireReplicationQueue:REMOVE_QUEUE",
      "RetireReplicationQueue:SHOW",
  };
  return steps.count(step.Detail()) != 0;
}

// Procedure types that each test sweeps.
inline const std::map<std::string, std::set<std::string>>& Groups() {
  static const std::map<std::string, std::set<std::string>> groups = {
      {"Tables", {"CreateTable", "EnableTable", "DisableTable", "DeleteTable", "TruncateTable", "MendTable"}},
      {"Altering", {"ModifyTable", "ReopenTableRegions", "FlushTable", "FlushRegion", "CompactTable", "CompactRegion"}},
      {"Reshapes",
       {"SplitTableRegion", "MergeTableRegions", "TruncateRegion", "BuildRegions", "GCRegion",
        "GCMultipleMergedRegions"}},
      {"Drains", {"DrainServer", "RecommissionServer"}},
      {"Settings",
       {"CreateNamespace", "ModifyNamespace", "DeleteNamespace", "SetSwitches", "AddPeer", "UpdatePeerConfig",
        "DisablePeer", "EnablePeer", "RemovePeer", "RefreshPeer", "SetRights", "RefreshRights", "ReplaceTokenKey",
        "ChangeTokens"}},
      {"Snapshots",
       {"Snapshot", "SnapshotRegion", "CloneSnapshot", "CloneRegion", "RestoreSnapshot", "ExportSnapshot",
        "ImportSnapshot"}},
      {"Regions", {"TransitRegionState", "OpenRegion", "CloseRegion"}},
      {"Servers",
       {"ServerCrash", "SplitWal", "SplitWalRemote", "RegisterServer", "ClaimReplicationQueues",
        "RetireReplicationQueue"}},
      {"Batches", {"AssignBatch"}},
      {"Start", {"InitMeta"}},
  };
  return groups;
}

}  // namespace ratchet::chaos
