// InitMeta: creates hbase:meta once in the life of a cluster, and has it opened.
#pragma once

#include <array>

#include "master/procedures/assignment/transit_region_state.h"
#include "master/procedures/core/common.h"

namespace ratchet::master {

class InitMeta final : public MasterProcedure<InitMeta, pb::InitMetaData> {
 public:
  static constexpr std::string_view kTypeName = "InitMeta";
  static constexpr ClaimKinds kClaims = kClaimsNothing;
  static constexpr auto Steps() {
    return std::array{
        On<&InitMeta::WriteFsLayout>(1, "WRITE_FS_LAYOUT", kNoReturn, Given("hbase:meta was never open")),
        On<&InitMeta::AssignMeta>(2, "ASSIGN_META", kNoReturn, Spawns<TransitRegionState>(),
                                  Given("the directory of hbase:meta exists and is marked as kept")),
        On<&InitMeta::Finish>(3, "FINISH", kNoReturn, Given("the transition of hbase:meta has ended")),
    };
  }
  using MasterProcedure::MasterProcedure;
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
