#include "procedure/store/root_guard.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "common/base/mutant.h"
#include "common/base/went_back.h"
#include "common/io/root_history.h"
#include "procedure/store/epoch_claim.h"

namespace ratchet::procedure {

Result<std::unique_ptr<RootGuard>> RootGuard::Open(std::unique_ptr<io::Directory> root) {
  // Reads in this order, because numbers/ is made before the first claim.
  RATCHET_ASSIGN(const Epoch claimed, HighestClaim(*root));
  if (claimed.valid()) RATCHET_TRY(io::CheckRootPast(*root));
  RATCHET_ASSIGN(auto numbers, io::EnsureRootNumbers(*root));
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
  if (RATCHET_MUTANT("guard.any_age")) return Ok();
  if (known_.mark && sequence < known_.mark->sequence) {
    return OlderCopy(fmt::format("it ends at sequence {}, but held sequence {} in epoch {} (numbers/store)", sequence,
                                 known_.mark->sequence, known_.mark->epoch));
  }
  std::string name;
  RATCHET_ASSIGN(const ProcId used, LargestPidIn(*root_, name));
  greatest = std::max(greatest, ProcId(known_.pid_limit));
  if (used > greatest) return OlderCopy(fmt::format("no pid in it is above {}, but {} exists", greatest, name));
  return Ok();
}

Result<ProcId> RootGuard::Begin(Epoch epoch, std::uint64_t sequence, ProcId greatest) {
  RATCHET_TRY(ReadNumbers());
  epoch_ = epoch;
  if (!RATCHET_MUTANT("store.forget_limit")) greatest = std::max(greatest, ProcId(known_.pid_limit));
  pid_limit_ = known_.pid_limit;
  RATCHET_TRY(AllowPid(greatest.Next()));
  RATCHET_TRY(Mark(sequence));
  return greatest;
}

Status RootGuard::AllowPid(ProcId pid) {
  if (pid.value() <= pid_limit_.load(std::memory_order_relaxed)) return Ok();
  const std::uint64_t limit = pid.value() + kPidStep;
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
