#include "common/io/root_history.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "common/base/mutant.h"
#include "common/base/went_back.h"

namespace ratchet::io {
namespace {

constexpr std::string_view kClaim = "claim";
constexpr std::string_view kMasterClient = "client.master.";
constexpr std::string_view kSplitting = "-splitting";
// Every name in these folders is evidence that the root was used. In wals/ only a fenced directory is evidence: a
// region server makes its own before the first master has claimed.
constexpr const char* kTraceFolders[] = {"history", "archive", "snapshots", "oldWALs"};

// Names below `folder`; none if it is missing or a file.
Result<std::vector<std::string>> NamesIn(Directory& root, const std::string& folder) {
  auto opened = root.OpenDir(folder);
  if (!opened.ok()) {
    const Code code = opened.error().code();
    if (code == Code::kNotFound || code == Code::kFailedPrecondition) return std::vector<std::string>();
    return std::move(opened).error();
  }
  return (*opened)->List();
}

std::uint64_t HighestClaimIn(const std::vector<std::string>& names) {
  std::uint64_t highest = 0;
  for (const std::string& name : names) highest = std::max(highest, NumberAfter(kClaim, name).value_or(0));
  return highest;
}

// Decimal digits at the beginning, perhaps with leading zeros.
std::uint64_t LeadingNumber(std::string_view text) {
  std::uint64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  return parsed.ec == std::errc() ? value : 0;
}

void NoteEpoch(RootPast& past, std::uint64_t epoch, std::string name) {
  if (epoch <= past.newest_epoch) return;
  past.newest_epoch = epoch;
  past.newest_name = std::move(name);
}

void LookAtRootNames(const std::vector<std::string>& names, RootPast& past) {
  past.root_claim = HighestClaimIn(names);
  for (const std::string& name : names) {
    if (!std::string_view(name).starts_with(kMasterClient)) continue;
    // A master notes its client before it claims, so only the earlier epochs were claimed, S102 (evict before fencing).
    const std::uint64_t noted = LeadingNumber(std::string_view(name).substr(kMasterClient.size()));
    if (noted < 2) continue;
    NoteEpoch(past, noted - 1, name);
    past.traces.push_back(name);
  }
}

Status LookAtData(Directory& root, RootPast& past) {
  RATCHET_ASSIGN(const std::vector<std::string> spaces, NamesIn(root, "data"));
  auto data = root.OpenDir("data");
  for (const std::string& space : spaces) {
    if (!data.ok()) break;
    RATCHET_ASSIGN(const std::vector<std::string> tables, NamesIn(**data, space));
    if (tables.empty()) continue;
    past.traces.push_back(fmt::format("data/{}/{}", space, tables.front()));
    break;
  }
  return Ok();
}

Status LookAtFolders(Directory& root, RootPast& past) {
  for (const char* folder : kTraceFolders) {
    RATCHET_ASSIGN(const std::vector<std::string> names, NamesIn(root, folder));
    if (!names.empty()) past.traces.push_back(fmt::format("{}/{}", folder, names.front()));
    for (const std::string& name : names) {
      const std::string path = fmt::format("{}/{}", folder, name);
      if (std::string_view(folder) == "archive") NoteEpoch(past, LeadingNumber(name), path);
      // "e<epoch>-<number>"
      if (std::string_view(folder) == "history" && name.starts_with('e'))
        NoteEpoch(past, LeadingNumber(std::string_view(name).substr(1)), path);
    }
  }
  RATCHET_ASSIGN(const std::vector<std::string> logs, NamesIn(root, "wals"));
  const auto fenced = std::find_if(
      logs.begin(), logs.end(), [](const std::string& name) { return std::string_view(name).ends_with(kSplitting); });
  if (fenced != logs.end()) past.traces.push_back("wals/" + *fenced);
  return Ok();
}

// S114 (no start without the past): an owner acts only once its mark is durable, so claims without one have changed
// nothing.
bool OwnersHaveActed(const RootPast& past) {
  return (past.numbers.mark && past.numbers.mark->epoch > 0) || past.numbers.pid_limit > 0;
}

std::string ClaimsText(const RootPast& past) {
  const std::uint64_t mark = past.numbers.mark ? past.numbers.mark->epoch : 0;
  const std::uint64_t known = std::max({past.root_claim, past.newest_epoch, mark});
  return known == 0 ? "masters have worked here" : fmt::format("epochs up to {} were claimed here", known);
}

constexpr std::string_view kPutBack =
    "put the newest procedures/ back, or look at 'ratchet-master --check-root'; nothing was changed";

RootCheck StoreIsThere(const RootPast& past) {
  RootCheck check{"procedures/",
                  past.store_claim > 0 ? fmt::format("claimed up to epoch {}", past.store_claim)
                  : past.store_exists  ? "without a claim"
                                       : "missing",
                  std::nullopt};
  const bool acted = OwnersHaveActed(past) || !past.traces.empty();
  if (past.store_claim > 0 || !acted || RATCHET_MUTANT("guard.any_past")) return check;
  const std::string trace = past.traces.empty() ? std::string(kNumbersFolder) : past.traces.front();
  check.refused = fmt::format("procedures/ is {}, but {} ({} exists): {}",
                              !past.store_exists     ? "missing"
                              : past.store_has_names ? "without claims"
                                                     : "empty",
                              ClaimsText(past), trace, kPutBack);
  return check;
}

RootCheck NumbersAreThere(const RootPast& past) {
  RootCheck check{"numbers/",
                  past.numbers.mark ? fmt::format("store.{}.{}, pid limit {}", past.numbers.mark->epoch,
                                                  past.numbers.mark->sequence, past.numbers.pid_limit)
                                    : "missing",
                  std::nullopt};
  const bool owed = past.root_claim > 0 || past.numbers.pid_limit > 0;
  if (past.numbers.mark || !owed || RATCHET_MUTANT("guard.any_numbers")) return check;
  check.refused = fmt::format(
      "numbers/store.* is missing, but epoch {} was claimed in the root: put numbers/ back; if it is "
      "lost and procedures/ is certainly the newest, make an empty file numbers/store.0.0",
      past.root_claim);
  return check;
}

RootCheck StoreIsNotOlder(const RootPast& past) {
  RootCheck check{"age of procedures/", "no newer epoch is known", std::nullopt};
  if (past.store_claim == 0) return check;
  const std::uint64_t mark = past.numbers.mark ? past.numbers.mark->epoch : 0;
  const bool by_mark = mark >= past.newest_epoch;
  const std::uint64_t newest = std::max(mark, past.newest_epoch);
  if (newest <= past.store_claim || RATCHET_MUTANT("guard.any_age")) return check;
  check.found = fmt::format("epoch {}", newest);
  check.refused = fmt::format(
      "procedures/ is an older copy: its newest claim is of epoch {}, but epoch {} has worked "
      "here ({}): {}",
      past.store_claim, newest, by_mark ? "numbers/store" : past.newest_name, kPutBack);
  return check;
}

}  // namespace

Result<RootPast> ReadRootPast(Directory& root) {
  RootPast past;
  RATCHET_ASSIGN(const std::vector<std::string> names, root.List());
  past.store_exists = std::find(names.begin(), names.end(), kProceduresFolder) != names.end();
  LookAtRootNames(names, past);
  // The traces first and the store last: a claim precedes every trace of its owner.
  RATCHET_TRY(LookAtData(root, past));
  RATCHET_TRY(LookAtFolders(root, past));
  RATCHET_ASSIGN(past.numbers, ReadRootNumbers(root));
  RATCHET_ASSIGN(const std::vector<std::string> store, NamesIn(root, kProceduresFolder));
  past.store_has_names = !store.empty();
  past.store_claim = HighestClaimIn(store);
  return past;
}

std::vector<RootCheck> JudgeRootPast(const RootPast& past) {
  return {StoreIsThere(past), NumbersAreThere(past), StoreIsNotOlder(past)};
}

Status CheckRootPast(Directory& root) {
  // An active master renames names in numbers/, and a listing may miss both names of a rename.
  constexpr int kLooks = 3;
  std::string causes;
  for (int look = 0; look < kLooks; ++look) {
    RATCHET_ASSIGN(const RootPast past, ReadRootPast(root));
    causes.clear();
    for (const RootCheck& check : JudgeRootPast(past)) {
      if (check.refused) causes += (causes.empty() ? "" : "; ") + *check.refused;
    }
    if (causes.empty()) return Ok();
  }
  return WentBack(std::move(causes));
}

Result<bool> HasHistory(Directory& root) {
  RATCHET_ASSIGN(const RootPast past, ReadRootPast(root));
  return past.store_has_names || !past.traces.empty() || OwnersHaveActed(past);
}

}  // namespace ratchet::io
