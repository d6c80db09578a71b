// RegisterServer: makes a region server that has just started durably known, before it is answered: whatever happens
// later, its crash will be noticed (S34), and its start code stays below every later one's (S5).
#pragma once

#include <array>
#include <string>

#include "master/procedures/common.h"

namespace ratchet::master {

// The result of one that recorded its server; any other says why nothing was recorded.
inline constexpr std::string_view kRegistered = "registered";

class RegisterServer final : public procedure::StateMachineProcedure<RegisterServer, pb::RegisterServerData> {
 public:
  static constexpr std::string_view kTypeName = "RegisterServer";
  enum class State : StepNo { kRecord = 1 };
  static constexpr auto Steps() { return std::array{On(State::kRecord, "RECORD", &RegisterServer::Record, kNoReturn)}; }
  using StateMachineProcedure::StateMachineProcedure;
  static ProcedurePtr Make(const ServerName& server, const std::string& version);

  [[nodiscard]] procedure::LockSet Locks() const override;
  void OnRecovered(const procedure::EnvRef& env) override;
  [[nodiscard]] std::string Describe() const override { return "server=" + data_.server(); }

 private:
  StepOutcome Record(StepContext& ctx);
};

}  // namespace ratchet::master
