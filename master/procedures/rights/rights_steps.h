// Changes of rights by procedures on tables and namespaces, in their own commits, S136 (a name made again has no old
// right).
#pragma once

#include "common/model/table_descriptor.h"
#include "common/rights/scope.h"
#include "master/procedures/core/common.h"
#include "master/procedures/core/data.pb.h"

namespace ratchet::master {

// Stages the deletion of every right for the scope and for what lies in it. Returns true if there is one. The caller
// shows the change when it is durable (ShowRightsWithin), and then gives it to the servers.
[[nodiscard]] bool TakeRightsAway(StepContext& ctx, const rights::Scope& scope);
// Stages the same for the families of a table that `schema` no longer has.
[[nodiscard]] bool TakeRightsOfDroppedFamilies(StepContext& ctx, const TableDescriptor& schema);
// Stages what a new table begins with: every right for its owner, if it has one, the restored rights of its snapshot,
// and no other.
void StageOwnersRights(StepContext& ctx, const pb::TableData& data);
// For the undo of a creation.
void UnstageOwnersRights(StepContext& ctx, const pb::TableData& data);
// Stages the rights that a restored table gets from its snapshot; true if there are any. Its later rights remain.
[[nodiscard]] bool StageRestoredRights(StepContext& ctx, const pb::TableData& data);
void ShowRestoredRights(StepContext& ctx, const pb::TableData& data);
// Mirrors the records of the scope, as they are now.
void ShowRightsWithin(StepContext& ctx, const rights::Scope& scope);
// True for rights that no server knows yet; mirrors the owner's record.
[[nodiscard]] bool ShowOwnersRights(StepContext& ctx, const pb::TableData& data);
// Why the owner of a new table cannot get its rights.
[[nodiscard]] Status CheckOwner(const MasterEnv& env, const pb::TableData& data);

}  // namespace ratchet::master
