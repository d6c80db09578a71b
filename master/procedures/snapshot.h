// Snapshot: what a table holds, kept under a name (S45, S46; docs/lifecycle.md). Each region contributes a part, which
// has names of its own for the region's files: nothing is copied, and what becomes of the table does not matter any
// more.
//
// It is no cut through the table at one moment: each region's part holds everything that was acknowledged before the
// request (SKIPFLUSH: everything that was in files), and rows are whole.
//
// No step has an undo, because what has one keeps its locks (S16), and the lock must go before a region is waited for
// (S43): the crash procedure that opens the region waits for that lock otherwise. A snapshot that fails has archived
// its directory before; of one that an operator has ended, SnapshotAdmin::CleanUp does it. The hold ends with the
// procedure.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "common/model/proto/snapshot.pb.h"
#include "master/procedures/common.h"
#include "master/procedures/snapshot_data.pb.h"
#include "master/state/snapshot_book.h"
#include "procedure/author/lock_request.h"
#include "procedure/engine/rerun_policy.h"

namespace ratchet::master {

class Snapshot final : public procedure::StateMachineProcedure<Snapshot, pb::SnapshotData>,
                       public procedure::PresentStateOnly {
 public:
  static constexpr std::string_view kTypeName = "Snapshot";
  enum class State : StepNo {
    kPrepare = 1,
    kWriteInfo = 2,
    kOnlineRegions = 3,
    kClosedRegions = 4,
    kConfirmRegions = 5,
    kConsolidate = 6,
    kVerify = 7,
    kComplete = 8,
    kPostOperation = 9,
  };
  static constexpr auto Steps() {
    return std::array{
        On(State::kPrepare, "PREPARE", &Snapshot::Prepare, kNothingToUndo),
        On(State::kWriteInfo, "WRITE_SNAPSHOT_INFO", &Snapshot::WriteInfo, kNothingToUndo),
        On(State::kOnlineRegions, "SNAPSHOT_ONLINE_REGIONS", &Snapshot::TakeRegions, kNothingToUndo,
           procedure::Spawns("SnapshotRegion")),
        On(State::kClosedRegions, "SNAPSHOT_CLOSED_REGIONS", &Snapshot::TakeRegions, kNothingToUndo,
           procedure::Spawns("SnapshotRegion")),
        On(State::kConfirmRegions, "CONFIRM_REGIONS", &Snapshot::ConfirmRegions, kNothingToUndo),
        On(State::kConsolidate, "CONSOLIDATE_SNAPSHOT", &Snapshot::Consolidate, kNothingToUndo),
        On(State::kVerify, "VERIFIER_SNAPSHOT", &Snapshot::Verify, kNothingToUndo),
        On(State::kComplete, "COMPLETE_SNAPSHOT", &Snapshot::Complete, kNoReturn),
        On(State::kPostOperation, "POST_OPERATION", &Snapshot::PostOperation, kNoReturn),
    };
  }
  using StateMachineProcedure::StateMachineProcedure;
  // Of its name, table, type, creation time, owner and time to live.
  static ProcedurePtr Make(const TableName& table, const hbase::pb::SnapshotDescription& description);

  [[nodiscard]] procedure::LockSet Locks() const override;
  [[nodiscard]] std::string Describe() const override;
  [[nodiscard]] std::optional<procedure::PartsLeft> Parts() const override;
  void OnRecovered(const procedure::EnvRef& env) override;

 private:
  StepOutcome Prepare(StepContext& ctx);
  StepOutcome WriteInfo(StepContext& ctx);
  StepOutcome TakeRegions(StepContext& ctx);
  StepOutcome ConfirmRegions(StepContext& ctx);
  StepOutcome Consolidate(StepContext& ctx);
  StepOutcome Verify(StepContext& ctx);
  StepOutcome Complete(StepContext& ctx);
  StepOutcome PostOperation(StepContext& ctx);
  // The directory goes to the archive, and the procedure fails.
  StepOutcome GiveUp(StepContext& ctx, const Error& why);

  [[nodiscard]] TableName Table() const { return {data_.ns(), data_.qualifier()}; }
  [[nodiscard]] hbase::pb::SnapshotDescription Description() const;
  [[nodiscard]] SnapshotHold HoldOf() const;
  [[nodiscard]] State RegionsState() const { return data_.disabled() ? State::kClosedRegions : State::kOnlineRegions; }
  // The table is still the one that was found.
  [[nodiscard]] Status CheckTable(const MasterEnv& env) const;
};

// Its procedure has not ended.
[[nodiscard]] bool SnapshotRuns(const MasterEnv& env, ProcId pid);
// S45. The unfinished snapshot that holds the table, or that is being taken under this name.
[[nodiscard]] std::optional<SnapshotHold> SnapshotOf(const MasterEnv& env, const TableName& table);
[[nodiscard]] std::optional<SnapshotHold> SnapshotNamed(const MasterEnv& env, const std::string& name);
// Ok: none holds the table. Otherwise what a split or a merge is refused with.
[[nodiscard]] Status NotHeld(const MasterEnv& env, const TableName& table);
// What a snapshot of the table may begin with; without a look at the storage.
[[nodiscard]] Status CheckSnapshot(const MasterEnv& env, const TableName& table, const std::string& name,
                                   ProcId self = ProcId());

}  // namespace ratchet::master
