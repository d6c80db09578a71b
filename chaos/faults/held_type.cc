#include "chaos/faults/held_type.h"

namespace ratchet::chaos {
namespace {

constexpr Millis kReleasedWithin{30'000};

}  // namespace

Status HeldType::Hold(ClusterClient& client, const std::string& type) {
  type_ = type;
  return client.PauseType(type);
}

Status HeldType::Release(Target& target, ClusterClient& client) {
  if (type_.empty()) return Ok();
  Status last = Ok();
  const Status released = WaitUntil("an end of the pause of " + type_, kReleasedWithin, [&] {
    target.Meanwhile();
    last = client.ResumeType(type_);
    return last.ok();
  });
  if (!released.ok()) return last.ok() ? released : Status(last.error().Annotate(released.error().message()));
  type_.clear();
  return Ok();
}

}  // namespace ratchet::chaos
