// Snapshot: takes a snapshot of a table (S45: snapshot hold; S46 (source of a snapshot part); docs/lifecycle.md). Each
// region contributes a part, which has its own names for the region's files: no data is copied, and later changes of
// the table do not affect the snapshot.
//
// It is not a consistent cut of the table at one moment: each part holds all writes that were acknowledged before the
// request (SKIPFLUSH: all writes that were in files), and rows are whole.
//
// No step has an undo: a step with an undo keeps its locks (S16: parent keeps child locks), but the lock must be
// released before the procedure waits for a region (S43: no locks while regions may wait), because the crash
// procedure that opens the region needs it. The procedure archives its directory before it fails; if an operator ends
// it, SnapshotAdmin::CleanUp does so. The hold ends with the procedure.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "common/model/proto/snapshot.pb.h"
#include "master/cluster/snapshot_book.h"
#include "master/procedures/core/common.h"
#include "master/procedures/snapshot/copy_region.h"
#include "master/procedures/snapshot/snapshot_data.pb.h"
#include "procedure/api/lock_request.h"
#include "procedure/api/rerun_policy.h"

namespace ratchet::master {

class Snapshot final : public MasterProcedure<Snapshot, pb::SnapshotData>, public procedure::PresentStateOnly {
 public:
  static constexpr std::string_view kTypeName = "Snapshot";
  static constexpr ClaimKinds kClaims = kClaimsNothing;
  static constexpr auto Steps() {
    return std::array{
        On<&Snapshot::Prepare>(1, "PREPARE", kNothingToUndo, kNeedsMeta,
                               Given("the table is locked; nothing has changed")),
        On<&Snapshot::WriteInfo>(2, "WRITE_SNAPSHOT_INFO", kNothingToUndo,
                                 Given("the regions are recorded, and the hold keeps them from splits and merges")),
        On<&Snapshot::TakeOnlineRegions>(3, "SNAPSHOT_ONLINE_REGIONS", kNothingToUndo, kNeedsMeta,
                                         Spawns<SnapshotRegion>(),
                                         Given("the snapshot's directory exists; the table was not disabled")),
        On<&Snapshot::TakeClosedRegions>(4, "SNAPSHOT_CLOSED_REGIONS", kNothingToUndo, kNeedsMeta,
                                         Spawns<SnapshotRegion>(),
                                         Given("the snapshot's directory exists; the table was disabled")),
        On<&Snapshot::ConfirmRegions>(5, "CONFIRM_REGIONS", kNothingToUndo, Given("the ordered parts have ended")),
        On<&Snapshot::Consolidate>(6, "CONSOLIDATE_SNAPSHOT", kNothingToUndo, Given("every region has its part")),
        On<&Snapshot::Verify>(7, "VERIFIER_SNAPSHOT", kNothingToUndo, kNeedsMeta,
                              Given("the list of parts is durable")),
        On<&Snapshot::Complete>(8, "COMPLETE_SNAPSHOT", kNoReturn,
                                Given("the parts cover each key once, and the table is the same")),
        On<&Snapshot::PostOperation>(9, "POST_OPERATION", kNoReturn, Given("the snapshot is complete")),
    };
  }
  using MasterProcedure::MasterProcedure;
  // Uses name, table, type, creation time, owner and time to live of the description.
  static ProcedurePtr Make(const TableName& table, const hbase::pb::SnapshotDescription& description);

  [[nodiscard]] procedure::LockSet Locks() const override;
  [[nodiscard]] procedure::Description Describe() const override;
  [[nodiscard]] std::optional<procedure::PartsLeft> Parts() const override;
  void OnRecovered(const procedure::EnvRef& env) override;

 private:
  StepOutcome Prepare(StepContext& ctx);
  StepOutcome WriteInfo(StepContext& ctx);
  StepOutcome TakeOnlineRegions(StepContext& ctx) { return TakeRegions(ctx); }
  StepOutcome TakeClosedRegions(StepContext& ctx) { return TakeRegions(ctx); }
  StepOutcome ConfirmRegions(StepContext& ctx);
  StepOutcome Consolidate(StepContext& ctx);
  StepOutcome Verify(StepContext& ctx);
  StepOutcome Complete(StepContext& ctx);
  StepOutcome PostOperation(StepContext& ctx);
  StepOutcome TakeRegions(StepContext& ctx);
  // Archives the directory, and fails the procedure.
  StepOutcome GiveUp(StepContext& ctx, const Error& why);

  [[nodiscard]] TableName Table() const { return {data_.ns(), data_.qualifier()}; }
  [[nodiscard]] hbase::pb::SnapshotDescription Description() const;
  [[nodiscard]] SnapshotHold HoldOf() const;
  [[nodiscard]] StepOutcome GoToRegions() const;
  // Returns Ok if the table is still the one that was found at the start.
  [[nodiscard]] Status CheckTable(const MasterEnv& env) const;
};

// Returns true if the snapshot's procedure has not ended.
[[nodiscard]] bool SnapshotRuns(const MasterEnv& env, ProcId pid);
// Returns the procedure that takes a snapshot under this name, also one that has not begun or has only to end.
[[nodiscard]] std::optional<ProcId> UnfinishedSnapshot(const MasterEnv& env, const std::string& name);
// Returns Ok if no snapshot holds the table; otherwise the error for a split or merge.
[[nodiscard]] Status NotHeld(const MasterEnv& env, const TableName& table);
// Checks whether a snapshot of the table may begin; does not access the storage.
[[nodiscard]] Status CheckSnapshot(const MasterEnv& env, const TableName& table, const std::string& name,
                                   ProcId self = ProcId());

}  // namespace ratchet::master
