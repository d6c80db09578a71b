#include "chaos/faults/shim_victims.h"

#include "chaos/shim/process_shims.h"

namespace ratchet::chaos {

std::optional<std::string> WhyNoShims(Target& target) {
  if (target.shims() == nullptr) return target.WhyNoShims();
  return std::nullopt;
}

Status HealShims(Target& target, const Victims& victims) {
  for (const auto& name : victims) {
    RATCHET_ASSIGN(ShimControl* const control, target.shims()->Of(name));
    Behave(*control);
  }
  for (const auto& name : victims) {
    if (!target.Running(name)) RATCHET_TRY(target.Start(name));
  }
  return Ok();
}

}  // namespace ratchet::chaos
