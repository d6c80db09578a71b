// SetSwitches: turns cluster-wide switches on or off (master/cluster/switches.h).
//
// Its result lists the previous value of each named switch, "on" or "off", in the order of the request. Lock: the lock
// of the cluster, which no other procedure of the master takes.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "master/cluster/switches.h"
#include "master/procedures/admin/switch_data.pb.h"
#include "master/procedures/core/common.h"

namespace ratchet::master {

class SetSwitches final : public MasterProcedure<SetSwitches, pb::SetSwitchesData> {
 public:
  static constexpr std::string_view kTypeName = "SetSwitches";
  static constexpr ClaimKinds kClaims = kClaimsNothing;
  static constexpr auto Steps() {
    return std::array{
        On<&SetSwitches::WriteRecords>(1, "WRITE_RECORDS", kNoReturn, Given("nothing has changed")),
        On<&SetSwitches::ShowSwitches>(2, "SHOW_SWITCHES", kNoReturn,
                                       Given("the system records of the switches are durable")),
    };
  }
  using MasterProcedure::MasterProcedure;
  static ProcedurePtr Make(const std::vector<Switch>& switches, bool on);

  [[nodiscard]] procedure::LockSet Locks() const override;
  [[nodiscard]] Status CheckInitial() const override;
  [[nodiscard]] procedure::Description Describe() const override;

 private:
  StepOutcome WriteRecords(StepContext& ctx);
  StepOutcome ShowSwitches(StepContext& ctx);
};

}  // namespace ratchet::master
