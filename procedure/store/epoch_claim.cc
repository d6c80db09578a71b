#include "procedure/store/epoch_claim.h"

#include <algorithm>

#include "common/base/mutant.h"
#include "procedure/store/segment_name.h"

namespace ratchet::procedure {
Result<Epoch> HighestClaim(io::Directory& directory) {
  RATCHET_ASSIGN(const auto names, directory.List());
  Epoch highest;
  for (const std::string& name : names) {
    if (const auto epoch = ParseClaimName(name)) highest = std::max(highest, *epoch);
  }
  return highest;
}

Result<Epoch> ClaimNextEpoch(io::Directory& directory) {
  for (;;) {
    RATCHET_ASSIGN(const Epoch highest, HighestClaim(directory));
    const Epoch mine = highest.Next();
    auto created = directory.Create(ClaimName(mine));  // empty: needs no space (S6)
    if (!created.ok()) {
      if (created.error().code() == Code::kAlreadyExists) continue;
      return created.error().Annotate("claiming the procedure store");
    }
    RATCHET_TRY((*created)->Close());
    RATCHET_TRY(directory.Sync());
    if (RATCHET_MUTANT("store.claim_removed") && highest.valid()) {
      RATCHET_TRY(directory.Unlink(ClaimName(highest)));
    }
    return mine;
  }
}

Status CheckEpoch(io::Directory& directory, Epoch epoch) {
  if (RATCHET_MUTANT("store.no_check")) return Ok();
  auto mine = directory.Exists(ClaimName(epoch));
  if (!mine.ok())
    return Error(Code::kFenced, "cannot see the own claim, which counts as fenced: " + mine.error().message());
  if (!*mine) return Error(Code::kFenced, fmt::format("the claim of epoch {} is gone", epoch));
  auto next = directory.Exists(ClaimName(epoch.Next()));
  if (!next.ok())
    return Error(Code::kFenced, "cannot look for a newer claim, which counts as fenced: " + next.error().message());
  if (*next) return Error(Code::kFenced, fmt::format("epoch {} was claimed after this one's {}", epoch.Next(), epoch));
  return Ok();
}

}  // namespace ratchet::procedure
