#include "procedure/store/epoch_claim.h"

#include <algorithm>
#include <functional>
#include <string>

#include <fmt/format.h>

#include "common/base/mutant.h"
#include "common/base/went_back.h"
#include "common/io/root_numbers.h"
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
    auto created = directory.Create(ClaimName(mine));  // empty: needs no space, S6 (failed sync ends the process)
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

namespace {

// kAlreadyExists: another master was faster.
Status MakeClaim(io::Directory& directory, Epoch epoch) {
  RATCHET_ASSIGN(auto created, directory.Create(ClaimName(epoch)));  // empty: needs no space (S6)
  return created->Close();
}

constexpr std::uint64_t kMostUnfilled = 10'000;  // claims of masters that ended in between

// Makes the missing claims up to `mine` in `procedures`. kAlreadyExists: another master has `mine` there.
Status FillClaims(io::Directory& procedures, Epoch mine) {
  RATCHET_ASSIGN(const Epoch highest, HighestClaim(procedures));
  if (mine.value() - highest.value() > kMostUnfilled) {
    return WentBack(fmt::format("procedures/ is an older copy: its newest claim is of epoch {}, that of the root {}",
                                highest, mine.value() - 1));
  }
  for (Epoch epoch = highest.Next(); epoch < mine; epoch = epoch.Next()) {
    const Status made = MakeClaim(procedures, epoch);
    if (!made.ok() && made.error().code() != Code::kAlreadyExists) return made;
  }
  return MakeClaim(procedures, mine);
}

Status LookForClaims(Epoch epoch, const std::string& where,
                     const std::function<Result<bool>(const std::string& name)>& exists) {
  const auto mine = exists(ClaimName(epoch));
  if (!mine.ok())
    return Error(Code::kFenced, "cannot see this process's claim, which counts as fenced: " + mine.error().message());
  if (!*mine) return Error(Code::kFenced, fmt::format("the claim of epoch {} no longer exists in {}", epoch, where));
  const auto next = exists(ClaimName(epoch.Next()));
  if (!next.ok())
    return Error(Code::kFenced, "cannot look for a newer claim, which counts as fenced: " + next.error().message());
  if (*next) return Error(Code::kFenced, fmt::format("epoch {} was claimed after this one's {}", epoch.Next(), epoch));
  return Ok();
}

}  // namespace

Result<Epoch> ClaimNextEpoch(io::Directory& root, io::Directory& procedures) {
  for (;;) {
    RATCHET_ASSIGN(const Epoch in_root, HighestClaim(root));
    RATCHET_ASSIGN(const Epoch in_store, HighestClaim(procedures));
    const Epoch mine = std::max(in_root, in_store).Next();
    if (!RATCHET_MUTANT("store.claim_in_store_only")) {
      const Status made = MakeClaim(root, mine);
      if (!made.ok() && made.error().code() == Code::kAlreadyExists) continue;
      if (!made.ok()) return made.error().Annotate("claiming the procedure store");
      RATCHET_TRY(root.Sync());
    }
    const Status filled = FillClaims(procedures, mine);
    if (!filled.ok() && filled.error().code() == Code::kAlreadyExists) continue;
    if (!filled.ok()) return filled.error().Annotate("claiming the procedure store");
    RATCHET_TRY(procedures.Sync());
    if (RATCHET_MUTANT("store.claim_removed") && mine > Epoch(1)) {
      for (io::Directory* directory : {&root, &procedures})
        IgnoreResult(directory->Unlink(ClaimName(Epoch(mine.value() - 1))), "a mutant");
    }
    return mine;
  }
}

Status CheckRootEpoch(io::Directory& root, Epoch epoch) {
  if (RATCHET_MUTANT("store.no_check")) return Ok();
  if (!RATCHET_MUTANT("store.claim_in_store_only"))
    RATCHET_TRY(LookForClaims(epoch, root.path(), [&root](const std::string& name) { return root.Exists(name); }));
  // Looks the claim up by name, without a descriptor, because a process without a free descriptor still owns the store.
  return LookForClaims(
      epoch, fmt::format("{}/{}", root.path(), io::kProceduresFolder),
      [&root](const std::string& name) { return root.Exists(fmt::format("{}/{}", io::kProceduresFolder, name)); });
}

Status CheckEpoch(io::Directory& directory, Epoch epoch) {
  if (RATCHET_MUTANT("store.no_check")) return Ok();
  return LookForClaims(epoch, directory.path(),
                       [&directory](const std::string& name) { return directory.Exists(name); });
}

}  // namespace ratchet::procedure
