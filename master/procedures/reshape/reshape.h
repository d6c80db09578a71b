// Shared by split and merge: regions (the parents) are closed, other regions (the children) are built from them, and
// one commit of hbase:meta replaces the parents by the children (docs/lifecycle.md).
//
// A close cannot be undone. So an operation that cannot continue after the close rolls back in forward steps: it opens
// the parents again, archives the new directories, and fails. Each function below is the work of one state. A function
// with an optional outcome returns nullopt when it is done, otherwise the outcome that the step must return.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "master/cluster/region_directory.h"
#include "master/procedures/core/common.h"
#include "procedure/api/lock_request.h"

namespace ratchet::master {

// Transition number of the rows that a commit creates. It is above the number of a table creation's rows, whose region
// ids belong to the table (S66: table row last in, first out).
inline constexpr std::uint64_t kBuiltTransition = 2;

// ---- views of the data ----
[[nodiscard]] std::vector<RegionInfo> ParentsOf(const pb::ReshapeData& data);
[[nodiscard]] std::vector<RegionInfo> ChildrenOf(const pb::ReshapeData& data);
// Its parents and children.
[[nodiscard]] Claims ReshapeClaims(const pb::ReshapeData& data);
// Locks parents and children; empty once the locks are released (S43: no locks while regions may wait).
[[nodiscard]] procedure::LockSet ReshapeLocks(const pb::ReshapeData& data, const std::vector<RegionInfo>& children);
// An operator must not end the procedure while its commit may be in progress (S40: durable commit point).
[[nodiscard]] Status CheckReshapeBypass(const pb::ReshapeData& data);

// ---- work of the states ---- S42 (look again after locking): takes ownership of parents and children, and sets the
// parents to `parents_state`. Returns Ok when done.
[[nodiscard]] Status OwnRegions(MasterEnv& env, pb::ReshapeData& data, ProcId pid, RegionState parents_state,
                                RegionState children_state);
// Undoes OwnRegions, also a partial one.
void GiveBackRegions(MasterEnv& env, const pb::ReshapeData& data, ProcId pid);
// Restores the ownership after a restart of the master.
void RestoreReshape(MasterEnv& env, const pb::ReshapeData& data, ProcId pid, RegionState children_state);

// A server that does not answer within two seconds is not waited for.
[[nodiscard]] std::vector<ProcedurePtr> FlushParents(const pb::ReshapeData& data);
[[nodiscard]] std::vector<ProcedurePtr> CloseParents(const pb::ReshapeData& data);
// Reads the result of each close. Returns false if one was not clean; sets the data's field "why".
[[nodiscard]] bool ReadCloseResults(StepContext& ctx, pb::ReshapeData& data);
[[nodiscard]] std::optional<StepOutcome> MakeChildDirectories(StepContext& ctx, const pb::ReshapeData& data);
// ChooseBuilder chooses and records a server. BuildChildren returns the child procedure to spawn.
[[nodiscard]] std::optional<StepOutcome> ChooseBuilder(StepContext& ctx, pb::ReshapeData& data);
[[nodiscard]] ProcedurePtr BuildChildren(StepContext& ctx, const pb::ReshapeData& data);
enum class BuildVerdict : std::uint8_t { kBuilt, kAgain, kNotClean };
[[nodiscard]] BuildVerdict ReadBuildResult(StepContext& ctx, pb::ReshapeData& data);
// S40, S41 (atomic conditional commit): sends the commit until its outcome is known. `make` builds the commit from the
// parents' in-memory state.
using MakeCommit = std::function<MetaCommit(const std::vector<RegionNode>& parents)>;
[[nodiscard]] std::optional<StepOutcome> CommitReshape(StepContext& ctx, const pb::ReshapeData& data,
                                                       const MakeCommit& make);
// Removes the parents' rows, each with exactly the transition number in memory, and creates the child's row. The child
// inherits the merged regions that the parents' rows name (S103: merged parents are passed on).
[[nodiscard]] MetaCommit ReplaceParents(const std::vector<RegionNode>& parents, RegionRow child);
// Builds a parent's node from the procedure's data.
[[nodiscard]] RegionNode NodeOfParent(const pb::RegionView& view, ProcId owner);
[[nodiscard]] std::string EncodedNameOfParent(const pb::RegionView& view);
// Builds a child's node, for before and after its row is written.
[[nodiscard]] RegionNode NodeOfChild(const RegionInfo& child, RegionState state, ProcId owner);
// Returns the children's rows that the commit creates.
[[nodiscard]] std::vector<RegionRow> ChildRows(const pb::ReshapeData& data);
// Sets the children to OFFLINE in memory, without an owner.
void ShowChildren(MasterEnv& env, const pb::ReshapeData& data);
// Updates memory after the commit: removes the parents, and adds the child with the inherited merged regions and
// `merged_from`.
void ShowReplaced(MasterEnv& env, const pb::ReshapeData& data, std::vector<RegionInfo> merged_from);
[[nodiscard]] std::vector<ProcedurePtr> AssignChildren(const pb::ReshapeData& data);
// Rollback: releases the parents, and returns procedures that open them.
[[nodiscard]] std::vector<ProcedurePtr> ReopenParents(MasterEnv& env, const pb::ReshapeData& data, ProcId pid);
// Archives the children's directories, and removes the children from memory.
[[nodiscard]] std::optional<StepOutcome> RemoveChildren(StepContext& ctx, const pb::ReshapeData& data);

}  // namespace ratchet::master
