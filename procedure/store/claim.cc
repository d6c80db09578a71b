#include "procedure/store/claim.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "common/base/mutant.h"
#include "common/base/went_back.h"
#include "common/io/root_history.h"
#include "common/io/root_numbers.h"
#include "procedure/store/format.h"

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
  if (!*mine && !RATCHET_MUTANT("store.no_check"))
    return Error(Code::kFenced, fmt::format("the claim of epoch {} no longer exists in {}", epoch, where));
  const auto next = exists(ClaimName(epoch.Next()));
  if (!next.ok())
    return Error(Code::kFenced, "cannot look for a newer claim, which counts as fenced: " + next.error().message());
  if (*next && !RATCHET_MUTANT("store.no_check"))
    return Error(Code::kFenced, fmt::format("epoch {} was claimed after this one's {}", epoch.Next(), epoch));
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
      if (!RATCHET_MUTANT("store.no_root_sync")) RATCHET_TRY(root.Sync());
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
  if (!RATCHET_MUTANT("store.claim_in_store_only"))
    RATCHET_TRY(LookForClaims(epoch, root.path(), [&root](const std::string& name) { return root.Exists(name); }));
  // Looks the claim up by name, without a descriptor, because a process without a free descriptor still owns the store.
  return LookForClaims(
      epoch, fmt::format("{}/{}", root.path(), io::kProceduresFolder),
      [&root](const std::string& name) { return root.Exists(fmt::format("{}/{}", io::kProceduresFolder, name)); });
}

Status CheckEpoch(io::Directory& directory, Epoch epoch) {
  return LookForClaims(epoch, directory.path(),
                       [&directory](const std::string& name) { return directory.Exists(name); });
}

Result<std::unique_ptr<RootGuard>> RootGuard::Open(std::unique_ptr<io::Directory> root) {
  // Reads in this order, because numbers/ is made before the first claim.
  RATCHET_ASSIGN(const Epoch claimed, HighestClaim(*root));
  if (claimed.valid()) RATCHET_TRY(io::CheckRootPast(*root));
  // The maker of a claim in the root had synced numbers/ before.
  RATCHET_ASSIGN(auto numbers, claimed.valid() ? root->OpenDir(io::kNumbersFolder) : io::EnsureRootNumbers(*root));
  return std::unique_ptr<RootGuard>(new RootGuard(std::move(root), std::move(numbers)));
}

// Reads twice, because a listing may miss a name that another master is just renaming. Only an owner that is deposed by
// now renames, and at most once for each of its actions.
Status RootGuard::ReadNumbers() {
  for (int look = 0; look < 2; ++look) {
    RATCHET_ASSIGN(const auto names, numbers_->List());
    const io::RootNumbers found = io::NumbersIn(names);
    known_.pid_limit = std::max(known_.pid_limit, found.pid_limit);
    if (found.mark) known_.mark = std::max(known_.mark.value_or(io::StoreMark{}), *found.mark);
  }
  return Ok();
}

Result<Epoch> RootGuard::Claim(io::Directory& procedures) { return ClaimNextEpoch(*root_, procedures); }

Status RootGuard::Check(Epoch epoch) { return CheckRootEpoch(*root_, epoch); }

namespace {

// The largest pid in the name of a table's directory, "data/<namespace>/<table>.<pid>"; `name` is that directory.
Result<ProcId> LargestPidIn(io::Directory& root, std::string& name) {
  ProcId largest;
  auto data = root.OpenDir("data");
  if (!data.ok() && data.error().code() == Code::kNotFound) return largest;
  if (!data.ok()) return std::move(data).error();
  RATCHET_ASSIGN(const auto spaces, (*data)->List());
  for (const std::string& space : spaces) {
    auto tables = (*data)->OpenDir(space);
    if (!tables.ok()) continue;  // a stray file, or just removed
    RATCHET_ASSIGN(const auto names, (*tables)->List());
    for (const std::string& table : names) {
      const std::size_t dot = table.rfind('.');
      if (dot == std::string::npos) continue;
      const ProcId pid(io::NumberAfter(table.substr(0, dot), table).value_or(0));
      if (pid <= largest) continue;
      largest = pid;
      name = fmt::format("data/{}/{}", space, table);
    }
  }
  return largest;
}

Error OlderCopy(const std::string& what) {
  return WentBack(
      fmt::format("procedures/ is an older copy: {}: put the newest procedures/ back; nothing was changed", what));
}

}  // namespace

Status RootGuard::CheckAge(std::uint64_t sequence, ProcId greatest) {
  RATCHET_TRY(ReadNumbers());
  const bool older = known_.mark && sequence < known_.mark->sequence;
  if (older && !RATCHET_MUTANT("guard.any_age")) {
    return OlderCopy(fmt::format("it ends at sequence {}, but held sequence {} in epoch {} (numbers/store)", sequence,
                                 known_.mark->sequence, known_.mark->epoch));
  }
  std::string name;
  RATCHET_ASSIGN(const ProcId used, LargestPidIn(*root_, name));
  greatest = std::max(greatest, ProcId(known_.pid_limit));
  if (used > greatest && !RATCHET_MUTANT("guard.any_age"))
    return OlderCopy(fmt::format("no pid in it is above {}, but {} exists", greatest, name));
  return Ok();
}

namespace {

// The limit that is set before a record of this pid is written.
std::uint64_t LimitFor(ProcId pid) { return pid.value() + RootGuard::kPidStep; }

}  // namespace

Result<ProcId> RootGuard::Begin(Epoch epoch, std::uint64_t sequence, ProcId greatest) {
  RATCHET_TRY(ReadNumbers());
  epoch_ = epoch;
  if (!RATCHET_MUTANT("store.forget_limit")) greatest = std::max(greatest, ProcId(known_.pid_limit));
  pid_limit_ = std::max(known_.pid_limit, LimitFor(greatest.Next()));
  RATCHET_TRY(io::RaiseRootNumbers(*numbers_, {io::StoreMark{epoch.value(), sequence}, pid_limit_}));
  return greatest;
}

Status RootGuard::AllowPid(ProcId pid) {
  if (pid.value() <= pid_limit_.load(std::memory_order_relaxed)) return Ok();
  const std::uint64_t limit = LimitFor(pid);
  RATCHET_TRY(io::RaisePidLimit(*numbers_, limit));
  pid_limit_ = limit;
  return Ok();
}

Status RootGuard::Mark(std::uint64_t sequence) { return io::RaiseStoreMark(*numbers_, {epoch_.value(), sequence}); }

Result<std::shared_ptr<RootGuard>> OpenRootGuard(std::unique_ptr<io::Directory> root) {
  RATCHET_ASSIGN(std::shared_ptr<RootGuard> guard, RootGuard::Open(std::move(root)));
  return guard;
}

}  // namespace ratchet::procedure
