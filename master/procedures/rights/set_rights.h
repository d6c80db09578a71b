// SetRights: changes what one user or group may do in one scope: the record, then memory, then every region server.
//
//   PRE_SET_RIGHTS         checks the change; the only step that can fail
//   UPDATE_RIGHTS_STORAGE  writes the record, durable in the batch of this step
//   TELL_REGION_SERVERS    updates memory, from where heartbeats and registrations carry the image, and sends it to
//                          every server (RefreshRights)
//   POST_SET_RIGHTS        S135 (a change is answered when every server has it): reached only then
//
// Locks: the exclusive lock of the rights for this table or namespace, and the shared lock of the table or namespace
// itself, which keeps the scope from being dropped between the check and the record. Both are free while the servers
// get it.
#pragma once

#include <array>
#include <string>

#include "common/rights/rights_entry.h"
#include "master/procedures/core/common.h"
#include "master/procedures/rights/refresh_rights.h"
#include "master/procedures/rights/rights_data.pb.h"

namespace ratchet::master {

class SetRights final : public MasterProcedure<SetRights, pb::SetRightsData> {
 public:
  static constexpr std::string_view kTypeName = "SetRights";
  static constexpr ClaimKinds kClaims = kClaimsNothing;
  static constexpr auto Steps() {
    return std::array{
        On<&SetRights::Pre>(1, "PRE_SET_RIGHTS", kNothingToUndo,
                            Given("the scope of the right is locked; nothing has changed")),
        On<&SetRights::UpdateStorage>(2, "UPDATE_RIGHTS_STORAGE", kNoReturn,
                                      Given("the change was checked under the lock")),
        On<&SetRights::Tell>(3, "TELL_REGION_SERVERS", kNoReturn, Spawns<RefreshRights>(), kReleasesWhileChildrenRun,
                             Given("the system record of the right is durable")),
        On<&SetRights::Post>(4, "POST_SET_RIGHTS", kNoReturn, Given("every server has the new rights or is fenced")),
    };
  }
  using MasterProcedure::MasterProcedure;
  // `entry` may be without actions in a TAKE. `directory`: the table's when the change was asked for; empty: unknown.
  static ProcedurePtr Make(const rights::RightsEntry& entry, pb::SetRightsData::Change change,
                           const std::string& directory = {});

  [[nodiscard]] procedure::LockSet Locks() const override;
  [[nodiscard]] bool HoldLocks() const override { return true; }
  [[nodiscard]] Status CheckInitial() const override;
  [[nodiscard]] procedure::Description Describe() const override;

 private:
  StepOutcome Pre(StepContext& ctx);
  StepOutcome UpdateStorage(StepContext& ctx);
  StepOutcome Tell(StepContext& ctx);
  StepOutcome Post(StepContext& ctx);

  [[nodiscard]] Result<rights::RightsEntry> Entry() const;
  [[nodiscard]] rights::RightsEntry Stored() const;
  // Returns the actions after the change; none: the record is deleted.
  [[nodiscard]] rights::Actions After(const MasterEnv& env, const rights::RightsEntry& entry) const;
};

// "table t, family f", for texts.
[[nodiscard]] std::string ScopeText(const rights::Scope& scope);
// Why the change is wrong in itself.
[[nodiscard]] Status CheckRights(const rights::RightsEntry& entry, pb::SetRightsData::Change change);

}  // namespace ratchet::master
