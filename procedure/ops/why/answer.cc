#include "procedure/ops/why/answer.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace ratchet::host {
namespace {

constexpr std::size_t kMostChains = 100;

bool EndsIn(const pb::WhyChain& chain, WhyCause cause) { return chain.cause() == WhyCauseText(cause); }

bool IsNumber(const std::string& text) {
  return !text.empty() && text.size() < 19 && text.find_first_not_of("0123456789") == std::string::npos;
}

pb::WhyResponse Unknown(const std::string& subject, const Error& error) {
  pb::WhyResponse answer;
  answer.set_subject(subject);
  answer.set_verdict("not known");
  answer.set_unknown(error.message());
  answer.set_ambiguous(error.code() == Code::kInvalidArgument);
  return answer;
}

}  // namespace

void WhyRoots::Add(std::optional<pb::WhyChain> chain) {
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

void WhyRoots::AddIfNew(pb::WhyChain chain) {
  auto key = std::pair(chain.cause(), chain.cause_text());
  by_cause_.try_emplace(std::move(key), std::move(chain));
}

void WhyRoots::Fill(std::size_t limit, pb::WhyResponse& out) {
  std::vector<pb::WhyChain> all;
  for (auto& [key, chain] : by_cause_) all.push_back(std::move(chain));
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return AgeOf(a) > AgeOf(b); });
  if (all.size() > limit) {
    out.set_left_out(static_cast<std::uint32_t>(all.size() - limit));
    all.resize(limit);
  }
  for (auto& chain : all) *out.add_chain() = std::move(chain);
}

bool WhyHost::ExplainExternal(const procedure::ProcedureInfo& /*info*/, pb::WhyLink& /*link*/,
                              ChainBuilder& /*chain*/) const {
  return false;
}

Result<std::string> WhyHost::RootsOf(const std::string& text, WhyRoots& roots) const {
  if (text.empty() || text == "cluster") {
    AddProcedures(roots);
    AddOwn(roots);
    return std::string("cluster");
  }
  if (const auto pid = PidIn(text)) return AddPid(*pid, roots);
  return Error(Code::kNotFound, fmt::format("'{}' is not a pid; 'ratchet procedures' lists them", text));
}

std::optional<ProcId> WhyHost::PidIn(const std::string& text) {
  const std::string number = text.starts_with("pid ") ? text.substr(4) : text;
  return IsNumber(number) ? std::optional(ProcId(std::stoull(number))) : std::nullopt;
}

std::string WhyHost::AddPid(ProcId pid, WhyRoots& roots) const {
  roots.Add(ChainOfProcedure(facts_, *this, pid));
  return fmt::format("pid {}{}", pid,
                     facts_.procedures.contains(pid) ? "" : " (no unfinished procedure has this number)");
}

void WhyHost::AddProcedures(WhyRoots& roots) const {
  for (const auto& cycle : facts_.cycles) roots.Add(ChainOfProcedure(facts_, *this, cycle.front()));
  for (const auto& [pid, info] : facts_.procedures) {
    if (info.parent.valid() && facts_.procedures.contains(info.parent)) continue;
    if (info.type == "LockProcedure" && info.waiting.kind != procedure::WaitingOn::Kind::kLock) continue;
    auto chain = ChainOfProcedure(facts_, *this, pid);
    if (!chain.has_value()) continue;
    const bool permanent =
        EndsIn(*chain, WhyCause::kParked) || EndsIn(*chain, WhyCause::kPaused) || EndsIn(*chain, WhyCause::kRing);
    if (permanent || AgeOf(*chain) >= kWhyMoment) roots.Add(std::move(chain));
  }
}

void WhyHost::AddOwn(WhyRoots& roots) const {
  if (facts_.store_full) {
    roots.AddIfNew(
        OneLink("master", facts_.process + " " + facts_.self, "room for the procedure store", std::nullopt,
                {WhyCause::kSpace, *facts_.store_full,
                 "procedures that have begun continue; new ones are accepted when there is room", kMakeRoom}));
  }
  for (const WhyPause& pause : facts_.pauses) {
    roots.AddIfNew(OneLink(
        "cluster", "what the pause covers", "an operator", pause.age_ms,
        {WhyCause::kPaused, pause.text, "nothing, until an operator resumes it", "ratchet resume " + pause.resume}));
  }
}

Result<pb::WhyResponse> AnswerWhy(const WhyHost& host, const std::string& subject, std::size_t limit) {
  pb::WhyResponse out;
  WhyRoots roots;
  RATCHET_ASSIGN(std::string meant, host.RootsOf(subject, roots));
  out.set_subject(std::move(meant));
  roots.Fill(std::max<std::size_t>(1, limit), out);
  out.set_verdict(VerdictOf(out));
  return out;
}

pb::WhyResponse AnswerRequest(const WhyHost& host, const pb::WhyRequest& request) {
  auto made = AnswerWhy(host, request.subject(), std::min<std::size_t>(request.limit(), kMostChains));
  return made.ok() ? *std::move(made) : Unknown(request.subject(), made.error());
}

std::string VerdictOf(const pb::WhyResponse& answer) {
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

}  // namespace ratchet::host
