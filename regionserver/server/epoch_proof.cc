#include "regionserver/server/epoch_proof.h"

#include <fmt/core.h>

#include "common/base/mutant.h"

namespace ratchet::regionserver {

Status ProveEpoch(io::Directory& root, Epoch claimed) {
  if (RATCHET_MUTANT("regionserver.unproven_epoch")) return Ok();
  const auto store = root.OpenDir("procedures");
  if (!store.ok()) return store.error().Annotate(fmt::format("looking for the claim of epoch {}", claimed));
  const auto there = (*store)->Exists(fmt::format("claim.{}", claimed.value()));
  if (!there.ok()) return there.error().Annotate(fmt::format("looking for the claim of epoch {}", claimed));
  if (*there) return Ok();
  return Error(Code::kStale, fmt::format("no master has claimed epoch {}", claimed));
}

}  // namespace ratchet::regionserver
