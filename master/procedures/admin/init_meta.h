// InitMeta: creates hbase:meta once in the life of a cluster, and has it opened.
#pragma once

#include <array>

#include "master/procedures/core/common.h"

namespace ratchet::master {

class InitMeta final : public procedure::StateMachineProcedure<InitMeta, pb::InitMetaData> {
 public:
  static constexpr std::string_view kTypeName = "InitMeta";
  enum class State : StepNo { kWriteFsLayout = 1, kAssignMeta = 2, kFinish = 3 };
  static constexpr auto Steps() {
    return std::array{
        On(State::kWriteFsLayout, "WRITE_FS_LAYOUT", &InitMeta::WriteFsLayout, kNoReturn),
        On(State::kAssignMeta, "ASSIGN_META", &InitMeta::AssignMeta, kNoReturn,
           procedure::Spawns("TransitRegionState")),
        On(State::kFinish, "FINISH", &InitMeta::Finish, kNoReturn),
    };
  }
  using StateMachineProcedure::StateMachineProcedure;
  static ProcedurePtr Make() { return std::make_unique<InitMeta>(pb::InitMetaData()); }

  [[nodiscard]] procedure::LockSet Locks() const override;
  [[nodiscard]] procedure::Description Describe() const override {
    return procedure::Description().Add("table", "hbase:meta");
  }

 private:
  StepOutcome WriteFsLayout(StepContext& ctx);
  StepOutcome AssignMeta(StepContext& ctx);
  StepOutcome Finish(StepContext& ctx);
};

}  // namespace ratchet::master
