// ImportSnapshot: makes a complete snapshot of an export (state/snapshot_export.h), of this cluster or of another one.
//
// Each file is compared with the checksum that it was exported with. As of Snapshot, no step has an undo: what fails
// has archived its directory before, and of one that an operator has ended, SnapshotAdmin::CleanUp does it. No table is
// locked: the snapshot is of none that there is.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "master/procedures/export_snapshot.h"
#include "master/state/snapshot_book.h"

namespace ratchet::master {

class ImportSnapshot final : public procedure::StateMachineProcedure<ImportSnapshot, pb::SnapshotTransferData>,
                             public procedure::PresentStateOnly {
 public:
  static constexpr std::string_view kTypeName = "ImportSnapshot";
  enum class State : StepNo {
    kPrepare = 1,
    kWriteInfo = 2,
    kCopyRegions = 3,
    kVerify = 4,
    kComplete = 5,
    kPostOperation = 6,
  };
  static constexpr auto Steps() {
    return std::array{
        On(State::kPrepare, "PREPARE", &ImportSnapshot::Prepare, kNothingToUndo),
        On(State::kWriteInfo, "WRITE_SNAPSHOT_INFO", &ImportSnapshot::WriteInfo, kNothingToUndo),
        On(State::kCopyRegions, "COPY_REGIONS", &ImportSnapshot::CopyRegions, kNothingToUndo),
        On(State::kVerify, "VERIFIER_SNAPSHOT", &ImportSnapshot::Verify, kNothingToUndo),
        On(State::kComplete, "COMPLETE_SNAPSHOT", &ImportSnapshot::Complete, kNoReturn),
        On(State::kPostOperation, "POST_OPERATION", &ImportSnapshot::PostOperation, kNoReturn),
    };
  }
  using StateMachineProcedure::StateMachineProcedure;
  // `name` empty: the one that it was exported with.
  static ProcedurePtr Make(const std::string& place, const std::string& name);

  [[nodiscard]] procedure::LockSet Locks() const override { return {}; }
  [[nodiscard]] std::string Describe() const override { return DescribeTransfer(data_); }
  [[nodiscard]] std::optional<procedure::PartsLeft> Parts() const override { return RegionsToTransfer(data_); }
  void OnRecovered(const procedure::EnvRef& env) override;

 private:
  StepOutcome Prepare(StepContext& ctx);
  StepOutcome WriteInfo(StepContext& ctx);
  StepOutcome CopyRegions(StepContext& ctx);
  StepOutcome Verify(StepContext& ctx);
  StepOutcome Complete(StepContext& ctx);
  StepOutcome PostOperation(StepContext& ctx);
  // The directory goes to the archive, and the procedure fails.
  StepOutcome GiveUp(StepContext& ctx, const Error& why);
  [[nodiscard]] SnapshotHold HoldOf() const { return {pid(), data_.snapshot(), TableName()}; }
};

}  // namespace ratchet::master
