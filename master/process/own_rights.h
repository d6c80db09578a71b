// The rights and token keys by which a master judges its own callers: those of its records while it is active, and none
// otherwise.
//
// Used by any thread. `gate` may still be null, because the page of a refused start judges its readers before a master
// has a gate.
#pragma once

#include <memory>

#include "common/base/result.h"
#include "common/rights/rights_holder.h"
#include "common/rights/token_keys.h"
#include "master/rpc/master_gate.h"
#include "master/startup/master_logic.h"

namespace ratchet::master {

class OwnRights final : public rights::ImageSource, public rights::TokenKeySource {
 public:
  // `gate` outlives this object.
  explicit OwnRights(const std::unique_ptr<MasterGate>& gate) : gate_(gate) {}

  [[nodiscard]] std::shared_ptr<const rights::RightsImage> image() const override {
    const auto parts = Parts();
    return parts.ok() ? parts->logic->rights.Image(parts->epoch) : nullptr;
  }
  [[nodiscard]] std::shared_ptr<const rights::TokenKeys> token_keys() const override {
    const auto parts = Parts();
    return parts.ok() ? parts->logic->rights.TokenKeys() : nullptr;
  }
  [[nodiscard]] std::shared_ptr<const rights::RevokedTokens> revoked_tokens() const override {
    const auto parts = Parts();
    return parts.ok() ? parts->logic->rights.RevokedTokens() : nullptr;
  }
  // As a call without rights would be answered: clients look for another master.
  [[nodiscard]] Error WhyNone() const override {
    const auto parts = Parts();
    return parts.ok() ? rights::ImageSource::WhyNone() : parts.error();
  }

 private:
  [[nodiscard]] Result<ActiveParts> Parts() const {
    if (gate_ == nullptr) return Error(Code::kUnavailable, "this master is starting");
    return gate_->Admit(Need::kRecovered);
  }

  const std::unique_ptr<MasterGate>& gate_;
};

}  // namespace ratchet::master
