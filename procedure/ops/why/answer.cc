#include "procedure/ops/why/answer.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "common/model/region_info.h"
#include "procedure/ops/why/chain.h"
#include "procedure/ops/why/roots.h"
#include "procedure/ops/why/subject.h"

namespace ratchet::host {
namespace {

namespace rpb = ::ratchet::pb;
using Kind = WhySubject::Kind;

// A wait shorter than this is not shown, because it ends by itself in a moment.
constexpr std::uint64_t kMoment = 1'000;

// Chains with one cause are shown once, by the longest of them; the others are counted.
class Chains {
 public:
  void Add(std::optional<rpb::WhyChain> chain) {
    if (!chain.has_value()) return;
    const auto key = std::pair(chain->cause(), chain->cause_text());
    const auto found = by_cause_.find(key);
    if (found == by_cause_.end()) {
      by_cause_.emplace(key, *std::move(chain));
      return;
    }
    const std::uint32_t more = found->second.more() + 1;
    if (AgeOf(*chain) > AgeOf(found->second)) found->second = *std::move(chain);
    found->second.set_more(more);
  }
  // Leaves out what procedures show already.
  void AddIfNew(rpb::WhyChain chain) {
    auto key = std::pair(chain.cause(), chain.cause_text());
    by_cause_.try_emplace(std::move(key), std::move(chain));
  }
  void Fill(std::size_t limit, rpb::WhyResponse& out) {
    std::vector<rpb::WhyChain> all;
    for (auto& [key, chain] : by_cause_) all.push_back(std::move(chain));
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return AgeOf(a) > AgeOf(b); });
    if (all.size() > limit) {
      out.set_left_out(static_cast<std::uint32_t>(all.size() - limit));
      all.resize(limit);
    }
    for (auto& chain : all) *out.add_chain() = std::move(chain);
  }

 private:
  std::map<std::pair<std::string, std::string>, rpb::WhyChain> by_cause_;
};

bool NamesTable(const procedure::ProcedureInfo& info, const std::string& table) {
  for (const std::string& spelling : {table, "default:" + table}) {
    for (const std::string& begin : {"table=" + spelling, "exclusive table " + spelling, "shared table " + spelling}) {
      if (!info.description.starts_with(begin)) continue;
      const std::size_t end = begin.size();
      if (end == info.description.size() || info.description[end] == ',') return true;
    }
  }
  return false;
}

void AddTable(const WhyFacts& facts, const std::string& name, Chains& chains) {
  for (const auto& [pid, info] : facts.procedures) {
    const auto parent = facts.procedures.find(info.parent);
    const bool top = parent == facts.procedures.end() || !NamesTable(parent->second, name);
    if (top && info.type != "LockProcedure" && NamesTable(info, name)) chains.Add(ChainOfProcedure(facts, pid));
  }
  for (const auto& [encoded, region] : facts.regions) {
    if (region.table == name && !region.served && !region.at_rest) chains.Add(ChainOfRegion(facts, encoded));
  }
  chains.Add(ChainOfTable(facts, name));
}

void AddCluster(const WhyFacts& facts, Chains& chains) {
  for (const auto& cycle : facts.cycles) chains.Add(ChainOfProcedure(facts, cycle.front()));
  for (const auto& [pid, info] : facts.procedures) {
    if (info.parent.valid() && facts.procedures.contains(info.parent)) continue;
    if (info.type == "LockProcedure" && info.waiting.kind != procedure::WaitingOn::Kind::kLock) continue;
    auto chain = ChainOfProcedure(facts, pid);
    if (!chain.has_value()) continue;
    const bool for_good = chain->cause() == "PARKED" || chain->cause() == "PAUSED" || chain->cause() == "RING";
    if (for_good || AgeOf(*chain) >= kMoment) chains.Add(std::move(chain));
  }
  for (const auto& [name, server] : facts.servers) {
    // A server that is not online is shown by its crash procedure.
    if (server.online || !server.crash_procedure.valid()) chains.Add(ChainOfServer(facts, name));
  }
  for (const auto& [encoded, region] : facts.regions) {
    const bool orphan = !region.owner.valid() && !region.served && !region.at_rest;
    if (orphan && static_cast<std::uint64_t>(std::max<std::int64_t>(0, region.since_ms)) >= kMoment)
      chains.Add(ChainOfRegion(facts, encoded));
  }
  for (const auto& [name, table] : facts.tables) chains.Add(ChainOfTable(facts, name));
  AddOwnChains(facts, [&chains](rpb::WhyChain chain) { chains.AddIfNew(std::move(chain)); });
}

}  // namespace

std::string VerdictOf(const rpb::WhyResponse& answer) {
  if (answer.chain_size() == 0) return "nothing waits";
  const auto& first = answer.chain(0);
  std::string subject = first.link_size() == 0 ? std::string() : first.link(0).subject();
  subject.resize(std::min(subject.find(" (asked for by"), subject.size()));
  std::size_t things = answer.left_out();
  for (const auto& chain : answer.chain()) things += 1 + chain.more();
  const bool aged = first.link_size() > 0 && first.link(0).has_for_ms();
  return fmt::format("{} {}{}: {}: {}", things, things == 1 ? "thing waits" : "things wait",
                     aged ? ", the longest for " + WhyAge(AgeOf(first)) : std::string(), subject, first.cause_text());
}

Result<rpb::WhyResponse> AnswerWhy(const WhyFacts& facts, const std::string& subject, std::size_t limit) {
  rpb::WhyResponse out;
  Chains chains;
  WhySubject meant;
  std::string note;
  if (facts.role == WhyRole::kActive || facts.role == WhyRole::kActivating) {
    const auto found = FindSubject(facts, subject);
    if (!found.ok() && facts.meta_loaded) return found.error();
    if (found.ok()) meant = *found;
    if (!found.ok()) note = fmt::format(" ('{}' is not known before the master is ready)", subject);
  }
  switch (meant.kind) {
    case Kind::kCluster: AddCluster(facts, chains); break;
    case Kind::kProcedure: {
      const ProcId pid(std::stoull(meant.name));
      if (!facts.procedures.contains(pid)) note = " (no unfinished procedure has this number)";
      chains.Add(ChainOfProcedure(facts, pid));
      break;
    }
    case Kind::kTable: AddTable(facts, meant.name, chains); break;
    case Kind::kRegion: chains.Add(ChainOfRegion(facts, meant.name)); break;
    case Kind::kServer: chains.Add(ChainOfServer(facts, meant.name)); break;
  }
  out.set_subject(meant.ToString() + note);
  chains.Fill(std::max<std::size_t>(1, limit), out);
  out.set_verdict(VerdictOf(out));
  return out;
}

}  // namespace ratchet::host
