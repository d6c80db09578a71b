#include "regionserver/process/epoch_proof.h"

#include <fmt/core.h>

#include "common/base/mutant.h"

namespace ratchet::regionserver {

Status ProveEpoch(io::Directory& root, Epoch claimed) {
  if (RATCHET_MUTANT("regionserver.unproven_epoch")) return Ok();
  const std::string name = fmt::format("claim.{}", claimed.value());
  const std::string what = fmt::format("looking for the claim of epoch {}", claimed);
  const auto in_root = root.Exists(name);
  if (!in_root.ok()) return in_root.error().Annotate(what);
  if (*in_root) return Ok();
  // A master of version 0.1 puts its claim only into procedures/ (docs/releases.md).
  const auto store = root.OpenDir("procedures");
  if (!store.ok()) return store.error().Annotate(what);
  const auto in_store = (*store)->Exists(name);
  if (!in_store.ok()) return in_store.error().Annotate(what);
  if (*in_store) return Ok();
  return Error(Code::kStale, fmt::format("no master has claimed epoch {}", claimed));
}

}  // namespace ratchet::regionserver
