// ChangeTokens: records a token that is issued, or revokes issued ones.
//
//   PRE_CHANGE_TOKENS    checks the bounds, and selects the tokens that are revoked
//   WRITE_TOKENS         writes the record of the new token, whose number is the pid, or marks the selected ones
//   TELL_REGION_SERVERS  updates memory; after a revocation sends the image of rights, which names the revoked tokens,
//                        to every server
//   POST_TOKENS          S169 (revoked tokens stay revoked): reached when every server has the image or is fenced
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "master/cluster/rights_book.h"
#include "master/procedures/core/common.h"
#include "master/procedures/rights/refresh_rights.h"
#include "master/procedures/rights/rights_data.pb.h"

namespace ratchet::master {

class ChangeTokens final : public MasterProcedure<ChangeTokens, pb::ChangeTokensData> {
 public:
  static constexpr std::string_view kTypeName = "ChangeTokens";
  static constexpr ClaimKinds kClaims = kClaimsNothing;
  static constexpr std::size_t kMostAtOnce = 1'000;  // tokens that one procedure revokes
  static constexpr auto Steps() {
    return std::array{
        On<&ChangeTokens::Pre>(1, "PRE_CHANGE_TOKENS", kNothingToUndo,
                               Given("no other change of tokens runs; nothing has changed")),
        On<&ChangeTokens::Write>(2, "WRITE_TOKENS", kNoReturn, Given("the change was checked under the lock")),
        On<&ChangeTokens::Tell>(3, "TELL_REGION_SERVERS", kNoReturn, Spawns<RefreshRights>(),
                                Given("the system records of the tokens are durable")),
        On<&ChangeTokens::Post>(4, "POST_TOKENS", kNoReturn, Given("every server has the image or is fenced")),
    };
  }
  using MasterProcedure::MasterProcedure;
  // `token`: without a number.
  static ProcedurePtr Issue(const IssuedToken& token);
  // `sequence`: this token only; nullopt: all of the user, at most kMostAtOnce. The result is the number of them.
  static ProcedurePtr Revoke(const std::string& user, std::optional<std::int64_t> sequence);

  [[nodiscard]] procedure::LockSet Locks() const override;
  [[nodiscard]] bool HoldLocks() const override { return true; }
  [[nodiscard]] Status CheckInitial() const override;
  [[nodiscard]] procedure::Description Describe() const override;

 private:
  StepOutcome Pre(StepContext& ctx);
  StepOutcome Write(StepContext& ctx);
  StepOutcome Tell(StepContext& ctx);
  StepOutcome Post(StepContext& ctx);
  [[nodiscard]] Status Select(const RightsBook& book, std::int64_t now_ms);
};

}  // namespace ratchet::master
