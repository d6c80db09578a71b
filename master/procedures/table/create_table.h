// CreateTable: makes directories and rows in hbase:meta, opens the regions, enables the table. It can fail, and be
// undone, only before its regions begin to open.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "common/model/table_descriptor.h"
#include "master/cluster/namespace_directory.h"
#include "master/procedures/assignment/assign_batch.h"
#include "master/procedures/rights/refresh_rights.h"
#include "master/procedures/table/new_table_procedure.h"

namespace ratchet::master {

class CreateTable final : public NewTableProcedure<CreateTable> {
 public:
  static constexpr std::string_view kTypeName = "CreateTable";
  static constexpr auto Steps() {
    return std::array{
        On<&CreateTable::PreOperation>(1, "PRE_OPERATION", kNothingToUndo, kNeedsMeta,
                                       Given("the table is locked; nothing has changed")),
        On<&CreateTable::MakeLayout>(2, "WRITE_FS_LAYOUT", UndoBy<&CreateTable::ArchiveLayout>(),
                                     Given("no table has the name; the new directory's name is recorded")),
        On<&CreateTable::AddToMeta>(3, "ADD_TO_META", UndoBy<&CreateTable::RemoveFromMeta>(), kNeedsMeta,
                                    Given("the new directory exists")),
        On<&CreateTable::AssignRegions>(
            4, "ASSIGN_REGIONS", kNoReturn, kNeedsMeta, Spawns<AssignBatch, TransitRegionState, RefreshRights>(),
            kReleasesWhileChildrenRun, Given("hbase:meta has the rows of the table and its regions")),
        On<&CreateTable::Enable>(5, "SET_ENABLED_TABLE_STATE", kNoReturn, kNeedsMeta,
                                 Given("the transitions of the new regions have ended")),
        On<&CreateTable::PostOperation>(6, "POST_OPERATION", kNoReturn, kNeedsMeta,
                                        Given("the table is enabled, or another procedure took it over")),
    };
  }
  using NewTableProcedure::NewTableProcedure;
  // `owner`: who gets every right for the table; empty: no user.
  static ProcedurePtr Make(const TableDescriptor& descriptor, const std::vector<std::string>& split_keys,
                           const std::string& owner = {});

  [[nodiscard]] Status CheckInitial() const override;
  [[nodiscard]] procedure::Description Describe() const override;
  void OnRecovered(const procedure::EnvRef& env) override;

 private:
  StepOutcome PreOperation(StepContext& ctx);

  [[nodiscard]] NamespaceDirectory::Claim Claimed() const;  // reservation against the namespace's limits
};

}  // namespace ratchet::master
