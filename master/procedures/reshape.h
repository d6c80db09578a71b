// What a split and a merge have in common: regions (the parents) are closed, others (the children) are built out of
// them, and one commit of hbase:meta puts the children in the parents' place (docs/lifecycle.md).
//
// No close can be undone, so an operation that cannot go on behind it gives up by going forward: the parents are opened
// again, what was made is archived, and the procedure ends failed. Each function below is the work of one state; an
// outcome is what the step has to return.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "master/procedures/common.h"
#include "master/state/region_directory.h"
#include "procedure/author/lock_request.h"

namespace ratchet::master {

// Transition number of the rows that a commit creates: above that of a creation's, whose id is the table's own (S66).
inline constexpr std::uint64_t kBuiltTransition = 2;

// ---- views of the data ----
[[nodiscard]] std::vector<RegionInfo> ParentsOf(const pb::ReshapeData& data);
[[nodiscard]] std::vector<RegionInfo> ChildrenOf(const pb::ReshapeData& data);
// The regions of both; none once they are let go (S43).
[[nodiscard]] procedure::LockSet ReshapeLocks(const pb::ReshapeData& data, const std::vector<RegionInfo>& children);
// An operator may not end it while its commit may be under way (S40).
[[nodiscard]] Status CheckReshapeBypass(const pb::ReshapeData& data);

// ---- what a state does ----
// S42: owns the parents and the children, and shows the parents in `parents_state`. Nothing: done.
[[nodiscard]] Status OwnRegions(MasterEnv& env, pb::ReshapeData& data, ProcId pid, RegionState parents_state,
                                RegionState children_state);
// The undo of that, also of a part.
void GiveBackRegions(MasterEnv& env, const pb::ReshapeData& data, ProcId pid);
// After a restart.
void RestoreReshape(MasterEnv& env, const pb::ReshapeData& data, ProcId pid, RegionState children_state);

[[nodiscard]] std::vector<ProcedurePtr> FlushParents(const pb::ReshapeData& data);
[[nodiscard]] std::vector<ProcedurePtr> CloseParents(const pb::ReshapeData& data);
// Takes over how each close has ended. False: one of them is not clean; `why` is in the data.
[[nodiscard]] bool TakeCloses(StepContext& ctx, pb::ReshapeData& data);
[[nodiscard]] std::optional<StepOutcome> MakeChildDirectories(StepContext& ctx, const pb::ReshapeData& data);
// Chooses a server and records it; the child to spawn.
[[nodiscard]] std::optional<StepOutcome> ChooseBuilder(StepContext& ctx, pb::ReshapeData& data);
[[nodiscard]] ProcedurePtr BuildChildren(StepContext& ctx, const pb::ReshapeData& data);
enum class BuildVerdict : std::uint8_t { kBuilt, kAgain, kNotClean };
[[nodiscard]] BuildVerdict TakeBuild(StepContext& ctx, pb::ReshapeData& data);
// S40, S41: sends the commit until its outcome is known. `make`: the commit, from the parents as memory shows them.
using MakeCommit = std::function<MetaCommit(const std::vector<RegionNode>& parents)>;
[[nodiscard]] std::optional<StepOutcome> CommitReshape(StepContext& ctx, const pb::ReshapeData& data,
                                                       const MakeCommit& make);
// Takes the parents' rows away and creates the child's, each parent under exactly the number that memory shows. The
// child takes over what the parents name as regions that a merge made them of (S103).
[[nodiscard]] MetaCommit ReplaceParents(const std::vector<RegionNode>& parents, RegionRow child);
// A child as memory shows it before its row is there, or when it is.
[[nodiscard]] RegionNode NodeOfChild(const RegionInfo& child, RegionState state, ProcId owner);
// The rows of the children as the commit creates them.
[[nodiscard]] std::vector<RegionRow> ChildRows(const pb::ReshapeData& data);
// The children are OFFLINE, and no procedure owns them.
void ShowChildren(MasterEnv& env, const pb::ReshapeData& data);
// After that commit: the parents are gone, the one child is shown with what it took over and `merged_from` beside it.
void ShowReplaced(MasterEnv& env, const pb::ReshapeData& data, std::vector<RegionInfo> merged_from);
[[nodiscard]] std::vector<ProcedurePtr> AssignChildren(const pb::ReshapeData& data);
// The way back: lets the parents go and has them opened.
[[nodiscard]] std::vector<ProcedurePtr> ReopenParents(MasterEnv& env, const pb::ReshapeData& data, ProcId pid);
// Archives the children's directories, and takes them out of memory.
[[nodiscard]] std::optional<StepOutcome> RemoveChildren(StepContext& ctx, const pb::ReshapeData& data);

}  // namespace ratchet::master
