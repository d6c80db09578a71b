#include "chaos/report/phases.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/core.h>

namespace ratchet::chaos {
namespace {

// For steps that need a cause of their own, and for those that share the commit of another one, S147 (run on without
// acting): a hold before the commit shows the step before.
constexpr bool kSeldom = false;

constexpr std::array kPhases{
    Phase{"ServerCrash", "START"},
    Phase{"ServerCrash", "FENCE"},
    Phase{"ServerCrash", "SEAL"},
    Phase{"ServerCrash", "SPLIT_META_LOG"},
    Phase{"ServerCrash", "ASSIGN_META"},
    Phase{"ServerCrash", "GET_REGIONS"},
    Phase{"ServerCrash", "SPLIT_LOG"},
    Phase{"ServerCrash", "ASSIGN_REGIONS"},
    Phase{"ServerCrash", "CLAIM_REPLICATION_QUEUES"},
    Phase{"ServerCrash", "RETIRE_LOGS"},
    Phase{"ServerCrash", "FINISH"},
    Phase{kActivationType, "claim store"},
    Phase{kActivationType, "attach procedures"},
    Phase{kActivationType, "schedule meta"},
    Phase{kActivationType, "find dead servers"},
    Phase{kActivationType, "start workers"},
    Phase{kActivationType, "load meta"},
    Phase{"SplitTableRegion", "FIND_SPLIT_POINT", kSeldom},  // only where the caller names no key
    Phase{"SplitTableRegion", "PREPARE", kSeldom},
    Phase{"SplitTableRegion", "PRE_OPERATION"},
    Phase{"SplitTableRegion", "CLOSE_PARENT_REGION"},
    Phase{"SplitTableRegion", "CHECK_CLOSED_REGIONS", kSeldom},
    Phase{"SplitTableRegion", "CREATE_DAUGHTER_REGIONS"},
    Phase{"SplitTableRegion", "WRITE_DAUGHTER_MANIFESTS"},
    Phase{"SplitTableRegion", "CONFIRM_DAUGHTER_MANIFESTS", kSeldom},
    Phase{"SplitTableRegion", "UPDATE_META"},
    Phase{"SplitTableRegion", "OPEN_CHILD_REGIONS"},
    Phase{"SplitTableRegion", "POST_OPERATION", kSeldom},
    Phase{"SplitTableRegion", "GIVE_UP", kSeldom},  // only where a build fails
    Phase{"SplitTableRegion", "REMOVE_DAUGHTER_REGIONS", kSeldom},
    Phase{"MergeTableRegions", "PREPARE"},
    Phase{"MergeTableRegions", "PRE_MERGE_OPERATION"},
    Phase{"MergeTableRegions", "CLOSE_REGIONS"},
    Phase{"MergeTableRegions", "CHECK_CLOSED_REGIONS", kSeldom},
    Phase{"MergeTableRegions", "CREATE_MERGED_REGION"},
    Phase{"MergeTableRegions", "WRITE_MERGED_MANIFEST"},
    Phase{"MergeTableRegions", "CONFIRM_MERGED_MANIFEST", kSeldom},
    Phase{"MergeTableRegions", "UPDATE_META"},
    Phase{"MergeTableRegions", "OPEN_MERGED_REGION"},
    Phase{"MergeTableRegions", "POST_OPERATION", kSeldom},
    Phase{"MergeTableRegions", "GIVE_UP", kSeldom},
    Phase{"MergeTableRegions", "REMOVE_MERGED_REGION", kSeldom},
    Phase{"ModifyTable", "PREPARE"},
    Phase{"ModifyTable", "PRE_OPERATION"},
    Phase{"ModifyTable", "UPDATE_TABLE_DESCRIPTOR"},
    Phase{"ModifyTable", "POST_OPERATION"},
    Phase{"ModifyTable", "REOPEN_ALL_REGIONS"},
    Phase{"ModifyTable", "TAKE_RIGHTS", kSeldom},  // only where a dropped family had rights
    Phase{"Snapshot", "PREPARE"},
    Phase{"Snapshot", "WRITE_SNAPSHOT_INFO"},
    Phase{"Snapshot", "SNAPSHOT_ONLINE_REGIONS"},
    Phase{"Snapshot", "SNAPSHOT_CLOSED_REGIONS", kSeldom},  // only of a disabled table
    Phase{"Snapshot", "CONFIRM_REGIONS"},
    Phase{"Snapshot", "CONSOLIDATE_SNAPSHOT"},
    Phase{"Snapshot", "VERIFIER_SNAPSHOT"},
    Phase{"Snapshot", "COMPLETE_SNAPSHOT"},
    Phase{"Snapshot", "POST_OPERATION"},
    Phase{"DrainServer", "MARK"},
    Phase{"DrainServer", "SHOW_MARK"},
    Phase{"DrainServer", "MOVE_REGIONS"},
    Phase{"DrainServer", "CONFIRM_MOVED"},
    Phase{"DrainServer", "STOP_SERVER", kSeldom},  // only where the server will be stopped, too
};

std::optional<Phase> Find(std::string_view type, std::string_view step) {
  const auto found = std::find_if(kPhases.begin(), kPhases.end(),
                                  [&](const Phase& phase) { return phase.type == type && phase.step == step; });
  return found == kPhases.end() ? std::nullopt : std::optional(*found);
}

}  // namespace

std::span<const Phase> AllPhases() { return kPhases; }

std::string PhaseName(const Phase& phase) { return fmt::format("{}:{}", phase.type, phase.step); }

bool HasPhases(std::string_view type) {
  return std::any_of(kPhases.begin(), kPhases.end(), [&](const Phase& phase) { return phase.type == type; });
}

std::optional<Phase> PhaseOf(const pb::ProcedureInfo& procedure) {
  if (procedure.finished()) return std::nullopt;
  const bool waits = procedure.state() == "WAITING" && procedure.history_size() > 0;
  return Find(procedure.type(), waits ? procedure.history(procedure.history_size() - 1).step() : procedure.step());
}

std::string HoldPhases(std::int64_t milliseconds) {
  constexpr auto kAlways = std::numeric_limits<std::uint64_t>::max();
  std::string text = fmt::format("master.activation=delay:{}x{}", milliseconds, kAlways);
  std::string_view before = kActivationType;
  for (const Phase& phase : kPhases) {
    if (phase.type == std::exchange(before, phase.type) || phase.type == kActivationType) continue;
    text += fmt::format(";executor.before_commit~{}:=delay:{}x{}", phase.type, milliseconds, kAlways);
  }
  return text;
}

}  // namespace ratchet::chaos
