// ReplaceTokenKey: makes the key by which tokens are signed from now on.
//
//   MAKE_TOKEN_KEY          writes the record of the new key, and removes those that are expired or withdrawn
//   TELL_REGION_SERVERS     updates memory, and sends the image of rights, which has the keys, to every server
//   USE_TOKEN_KEY           S152 (tokens are signed by known keys): reached when every server has the key or is fenced;
//                           the record says so from here on
//   POST_TOKEN_KEY          updates memory
//
// After a withdrawal no server accepts a token of an earlier key when the procedure ends.
#pragma once

#include <array>
#include <string_view>

#include "master/cluster/rights_book.h"
#include "master/procedures/core/common.h"
#include "master/procedures/rights/refresh_rights.h"
#include "master/procedures/rights/rights_data.pb.h"

namespace ratchet::master {

class ReplaceTokenKey final : public MasterProcedure<ReplaceTokenKey, pb::ReplaceTokenKeyData> {
 public:
  static constexpr std::string_view kTypeName = "ReplaceTokenKey";
  static constexpr ClaimKinds kClaims = kClaimsNothing;
  static constexpr auto Steps() {
    return std::array{
        On<&ReplaceTokenKey::MakeKey>(1, "MAKE_TOKEN_KEY", kNoReturn, Given("no other key is being made")),
        On<&ReplaceTokenKey::Tell>(2, "TELL_REGION_SERVERS", kNoReturn, Spawns<RefreshRights>(),
                                   Given("the system record of the key is durable")),
        On<&ReplaceTokenKey::UseKey>(3, "USE_TOKEN_KEY", kNoReturn, Given("every server has the key or is fenced")),
        On<&ReplaceTokenKey::Post>(4, "POST_TOKEN_KEY", kNoReturn, Given("the record says that the key is known")),
    };
  }
  using MasterProcedure::MasterProcedure;
  static ProcedurePtr Make(const TokenKeyOrder& order);

  [[nodiscard]] procedure::LockSet Locks() const override;
  [[nodiscard]] bool HoldLocks() const override { return true; }
  [[nodiscard]] Status CheckInitial() const override;
  [[nodiscard]] procedure::Description Describe() const override;

 private:
  StepOutcome MakeKey(StepContext& ctx);
  StepOutcome Tell(StepContext& ctx);
  StepOutcome UseKey(StepContext& ctx);
  StepOutcome Post(StepContext& ctx);
};

}  // namespace ratchet::master
