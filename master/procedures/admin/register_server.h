// RegisterServer: durably records a region server that has just started, before the server gets its answer. So its
// crash will always be noticed (S34: which servers may be dead), and every later start code is higher (S5: rising start
// code).
#pragma once

#include <array>
#include <string>

#include "master/procedures/core/common.h"

namespace ratchet::master {

// Result after the server was recorded; any other result is the reason why it was not.
inline constexpr std::string_view kRegistered = "registered";

class RegisterServer final : public MasterProcedure<RegisterServer, pb::RegisterServerData> {
 public:
  static constexpr std::string_view kTypeName = "RegisterServer";
  static constexpr ClaimKinds kClaims = kClaimsNothing;
  static constexpr auto Steps() {
    return std::array{
        On<&RegisterServer::Record>(1, "RECORD", kNoReturn, Given("the log directory of the server was seen alive"))};
  }
  using MasterProcedure::MasterProcedure;
  static ProcedurePtr Make(const ServerName& server, const std::string& version);

  [[nodiscard]] procedure::LockSet Locks() const override;
  void OnRecovered(const procedure::EnvRef& env) override;
  [[nodiscard]] procedure::Description Describe() const override {
    return procedure::Description().Add("server", data_.server());
  }

 private:
  StepOutcome Record(StepContext& ctx);
};

}  // namespace ratchet::master
