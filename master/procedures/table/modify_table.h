// ModifyTable: changes a table's descriptor, and reopens its regions with it.
//
// The number of the new descriptor is chosen under the table's lock, and the file desc.<number>.<pid> is created once;
// the number, not the pid, orders descriptors (S48: schema pinned in the order). When the file is durable the procedure
// releases its lock permanently, because afterwards it waits for regions, possibly without end (S43: no locks while
// regions may wait). With the lock it waits only until every server knows that the rights of dropped families are gone
// (S136: a name made again has no old right), which takes no region. A table may be altered in every state; closed
// regions apply the new descriptor at their next opening.
#pragma once

#include <array>
#include <string>

#include "master/procedures/core/common.h"
#include "master/procedures/rights/refresh_rights.h"
#include "master/procedures/table/reopen_table_regions.h"
#include "master/procedures/table/schema_change.h"
#include "procedure/api/lock_request.h"

namespace ratchet::master {

class ModifyTable final : public MasterProcedure<ModifyTable, pb::ModifyTableData> {
 public:
  static constexpr std::string_view kTypeName = "ModifyTable";
  static constexpr ClaimKinds kClaims = kClaimsDescriptors;
  static constexpr auto Steps() {
    return std::array{
        On<&ModifyTable::Prepare>(1, "PREPARE", kNothingToUndo, kNeedsMeta,
                                  Given("the table is locked; nothing has changed")),
        On<&ModifyTable::PreOperation>(2, "PRE_OPERATION", kNothingToUndo,
                                       Given("the new descriptor and its number are recorded")),
        On<&ModifyTable::UpdateDescriptor>(3, "UPDATE_TABLE_DESCRIPTOR", kNoReturn, kNeedsMeta,
                                           Given("the new descriptor and its number are recorded")),
        On<&ModifyTable::TakeRights>(6, "TAKE_RIGHTS", kNoReturn, Spawns<RefreshRights>(),
                                     Given("the new descriptor is durable; rights of dropped families are removed")),
        On<&ModifyTable::PostOperation>(4, "POST_OPERATION", kNoReturn, Given("the new descriptor is durable")),
        On<&ModifyTable::ReopenAllRegions>(5, "REOPEN_ALL_REGIONS", kNoReturn, Spawns<ReopenTableRegions>(),
                                           kReleasesWhileChildrenRun,
                                           Given("the new descriptor is durable; open regions may have an older one")),
    };
  }
  using MasterProcedure::MasterProcedure;
  // `reopen`: if false, open regions are not reopened; each applies the change at its next opening.
  static ProcedurePtr Make(const SchemaChange& change, bool reopen);

  [[nodiscard]] procedure::LockSet Locks() const override;
  [[nodiscard]] bool HoldLocks() const override { return true; }
  [[nodiscard]] Status CheckInitial() const override;
  [[nodiscard]] Claims Uses() const;
  [[nodiscard]] procedure::Description Describe() const override;
  void OnRecovered(const procedure::EnvRef& env) override;

 private:
  StepOutcome Prepare(StepContext& ctx);
  StepOutcome PreOperation(StepContext& ctx);
  StepOutcome UpdateDescriptor(StepContext& ctx);
  StepOutcome TakeRights(StepContext& ctx);
  StepOutcome PostOperation(StepContext& ctx);
  StepOutcome ReopenAllRegions(StepContext& ctx);

  [[nodiscard]] TableName Table() const { return {data_.ns(), data_.qualifier()}; }
  [[nodiscard]] Result<SchemaChange> Change() const;
};

}  // namespace ratchet::master
