#include "procedure/ops/why/chain.h"

#include <algorithm>

#include <fmt/core.h>

namespace ratchet::host {
namespace {

using procedure::ProcedureInfo;
using WaitKind = procedure::WaitingOn::Kind;

constexpr int kMostLinks = 50;  // maximum length of one chain
// Steps take milliseconds; a procedure waits outside of steps.
constexpr std::int64_t kLongStep = 10'000;

std::string SubjectOf(const ProcedureInfo& info) {
  return fmt::format("pid {} {} {}", info.pid, info.type, info.description.text());
}

std::string PidList(const std::vector<ProcId>& pids) {
  constexpr std::size_t kShown = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(pids.size(), kShown); ++i)
    text += fmt::format("{}pid {}", i == 0 ? "" : ", ", pids[i]);
  if (pids.size() > kShown) text += fmt::format(" and {} more", pids.size() - kShown);
  return text;
}

std::uint64_t NotNegative(std::int64_t ms) { return static_cast<std::uint64_t>(std::max<std::int64_t>(0, ms)); }

void Set(pb::WhyChain& chain, WhyCause cause, std::string text, std::string next, std::string verb) {
  chain.set_cause(std::string(WhyCauseText(cause)));
  chain.set_cause_text(std::move(text));
  if (!next.empty()) chain.set_next(std::move(next));
  if (!verb.empty()) chain.set_verb(std::move(verb));
}

pb::WhyLink& Add(pb::WhyChain& chain, const char* kind, std::string subject, std::optional<std::int64_t> for_ms) {
  auto& link = *chain.add_link();
  link.set_kind(kind);
  link.set_subject(std::move(subject));
  if (for_ms.has_value()) link.set_for_ms(NotNegative(*for_ms));
  return link;
}

// Who asked for it, for the first link of a chain.
std::string AskedBy(const ProcedureInfo& info) {
  if (info.nonce == 0 && info.method.empty()) return "";
  std::string text = " (asked for by " + info.owner;
  if (!info.peer.empty()) text += " from " + info.peer;
  if (!info.method.empty()) text += " with " + info.method;
  if (info.nonce != 0) text += fmt::format(" under nonce {}:{}", info.nonce_group, info.nonce);
  return text + ")";
}

}  // namespace

pb::WhyLink& ChainBuilder::AddLink(const char* kind, std::string subject, std::optional<std::int64_t> for_ms) {
  return Add(chain_, kind, std::move(subject), for_ms);
}

void ChainBuilder::End(WhyCause cause, std::string text, std::string next, std::string verb) {
  cause_ = cause;
  Set(chain_, cause, std::move(text), std::move(next), std::move(verb));
}

// Each try changes a procedure, so the wait of one that keeps failing counts from its submission.
std::int64_t ChainBuilder::WaitOf(const ProcedureInfo& info) const {
  const auto setback = facts_.setbacks.find(info.pid);
  const bool repeated = setback != facts_.setbacks.end() && setback->second.repeated;
  return std::max<std::int64_t>(0, facts_.now_ms - (repeated ? info.submitted_ms : info.updated_ms));
}

void ChainBuilder::SetNextTry(const ProcedureInfo& info) {
  if (info.waiting.next_try_in) chain_.set_next_in_ms(NotNegative(info.waiting.next_try_in->count()));
}

void ChainBuilder::FollowProcedure(ProcId pid) {
  const auto found = facts_.procedures.find(pid);
  if (found == facts_.procedures.end()) {
    AddLink("procedure", fmt::format("pid {}", pid), std::nullopt);
    return End(WhyCause::kGone, fmt::format("pid {} has ended meanwhile", pid), "what waited for it continues",
               "ratchet why");
  }
  const ProcedureInfo& info = found->second;
  if (chain_.link_size() >= kMostLinks) {
    AddLink("procedure", SubjectOf(info), WaitOf(info));
    return End(WhyCause::kGoesOn,
               fmt::format("{} links lead to pid {}, and the chain continues there", kMostLinks, pid),
               "what the last link waits for", fmt::format("ratchet why {}", pid));
  }
  if (!seen_.insert(pid).second) {
    AddLink("procedure", SubjectOf(info), WaitOf(info));
    return End(WhyCause::kRing, fmt::format("deadlock: pid {} waits for itself", pid),
               "nothing: a deadlock does not end by itself; it is a defect",
               fmt::format("ratchet abort {} (or bypass, where it cannot be aborted)", pid));
  }
  std::string subject = SubjectOf(info);
  if (chain_.link_size() == 0) subject += AskedBy(info);
  auto& link = AddLink("procedure", std::move(subject), WaitOf(info));
  FollowWaiting(info, link);
}

void ChainBuilder::FollowWaiting(const ProcedureInfo& info, pb::WhyLink& link) {
  if (!info.parked.empty()) {
    link.set_waits_for(fmt::format("step {}: an operator", info.step_name));
    return EndParked(info);
  }
  if (info.waiting.kind == WaitKind::kPaused || (!info.paused.empty() && info.waiting.kind == WaitKind::kNone)) {
    link.set_waits_for(fmt::format("step {}: the end of a pause", info.step_name));
    return EndPaused(info, info.waiting.detail.empty() ? info.paused : info.waiting.detail);
  }
  switch (info.waiting.kind) {
    case WaitKind::kLock: {
      link.set_waits_for(fmt::format("step {}: lock {}", info.step_name, info.waiting.detail));
      auto& lock = AddLink("lock", fmt::format("lock {}", info.waiting.detail), WaitOf(info));
      lock.set_waits_for("its holder: " + PidList(info.waiting.procedures));
      return FollowOneOf(info.waiting.procedures);
    }
    case WaitKind::kChildren:
      link.set_waits_for(fmt::format("step {}: {}", info.step_name, PidList(info.waiting.procedures)));
      return FollowOneOf(info.waiting.procedures);
    case WaitKind::kSiblings:
      link.set_waits_for(info.waiting.detail.empty() ? fmt::format("the undo of {}", PidList(info.waiting.procedures))
                                                     : fmt::format("the undo of its tree, {} {}", info.waiting.detail,
                                                                   PidList(info.waiting.procedures)));
      return FollowOneOf(info.waiting.procedures);
    case WaitKind::kLimit:
      link.set_waits_for(fmt::format("step {}: {}", info.step_name, info.waiting.detail));
      return EndLimit(info);
    case WaitKind::kRetry:
      if (!info.failing && host_.ExplainExternal(info, link, *this)) return;
      link.set_waits_for(
          fmt::format("{} {}: the next try", info.failing ? "the undo of step" : "step", info.step_name));
      return EndRetry(info);
    case WaitKind::kCommit:
      link.set_waits_for(fmt::format("step {}: the procedure store", info.step_name));
      return EndStore();
    case WaitKind::kEvent:
    case WaitKind::kAsync:
    case WaitKind::kOperator:
    case WaitKind::kPaused:
    case WaitKind::kNone: break;
  }
  FollowOutside(info, link);
}

// The procedure waits for no other one.
void ChainBuilder::FollowOutside(const ProcedureInfo& info, pb::WhyLink& link) {
  if (info.type == "LockProcedure") {
    link.set_waits_for("its holder to release it");
    return EndLock(info);
  }
  if (info.waiting.kind == WaitKind::kNone) {
    link.set_waits_for(info.running ? fmt::format("step {} to end: it runs", info.step_name)
                                    : fmt::format("step {}: a free worker", info.step_name));
    return EndRunning(info);
  }
  if (info.waiting.own) {
    link.set_waits_for(fmt::format("step {}: {}", info.step_name, info.waiting.detail));
    return End(WhyCause::kOutside, fmt::format("the step's own work has not ended: {}", info.waiting.detail),
               "it continues when that work ends; operators' verbs on it wait too",
               "if it does not end, look at the storage that it names, from the master's host");
  }
  if (host_.ExplainExternal(info, link, *this)) return;
  const bool of_event = info.waiting.kind == WaitKind::kEvent;
  const std::string what =
      info.waiting.detail.empty() ? std::string("an event") : (of_event ? "the event " : "") + info.waiting.detail;
  link.set_waits_for(fmt::format("step {}: {}", info.step_name, what));
  End(WhyCause::kOutside, fmt::format("work outside of the procedures: {}", what), "it continues when that work ends",
      fmt::format("ratchet procedure {}", info.pid));
  SetNextTry(info);
}

// Follows, of several procedures, the one whose state has not changed for longest; running ones come last.
void ChainBuilder::FollowOneOf(const std::vector<ProcId>& pids) {
  const ProcedureInfo* worst = nullptr;
  const auto rank = [](const ProcedureInfo& info) {
    return std::pair(info.waiting.kind == WaitKind::kNone && info.parked.empty() && info.paused.empty(),
                     info.updated_ms);
  };
  for (const ProcId pid : pids) {
    const auto found = facts_.procedures.find(pid);
    if (found == facts_.procedures.end()) continue;
    if (worst == nullptr || rank(found->second) < rank(*worst)) worst = &found->second;
  }
  if (worst != nullptr) return FollowProcedure(worst->pid);
  End(WhyCause::kGone, "what it waited for has ended meanwhile", "it continues", "ratchet why");
}

void ChainBuilder::EndParked(const ProcedureInfo& info) {
  const std::string error = info.last_error ? "; its last error: " + info.last_error->ToString() : std::string();
  End(WhyCause::kParked, fmt::format("pid {} is parked at step {}: {}{}", info.pid, info.step_name, info.parked, error),
      "nothing, until an operator acts",
      fmt::format("ratchet unpark {} (rerun and bypass: ratchet procedure {} shows its steps)", info.pid, info.pid));
}

void ChainBuilder::EndPaused(const ProcedureInfo& info, const std::string& pause) {
  std::string resume = fmt::format("ratchet pauses (it covers pid {})", info.pid);
  for (const WhyPause& each : facts_.pauses) {
    if (each.text == pause) resume = "ratchet resume " + each.resume;
  }
  End(WhyCause::kPaused, pause, "nothing, until an operator resumes it", resume);
}

void ChainBuilder::EndLimit(const ProcedureInfo& info) {
  const std::vector<ProcId>& running = info.waiting.procedures;
  End(WhyCause::kLimit,
      fmt::format("{}: no more may run at once ({})", info.waiting.detail,
                  running.empty() ? "none is shown" : PidList(running)),
      "it runs when one of these steps ends",
      running.empty() ? std::string("ratchet locks; --procedure-steps-per-table and -per-server set the limits")
                      : fmt::format("ratchet why {} (why its step does not end); --procedure-steps-per-table and "
                                    "-per-server set the limits",
                                    running.front()));
}

void ChainBuilder::EndRetry(const ProcedureInfo& info) {
  const auto setback = facts_.setbacks.find(info.pid);
  const std::string error = setback != facts_.setbacks.end() ? setback->second.error
                            : info.last_error                ? info.last_error->ToString()
                                                             : std::string("no error is recorded");
  const std::string verb =
      fmt::format("ratchet park {} (stops the tries), ratchet rerun {} (tries from a step)", info.pid, info.pid);
  if (info.failing) {
    End(WhyCause::kUndoFails, fmt::format("the undo of pid {} fails (attempt {}): {}", info.pid, info.attempt, error),
        "the master tries the undo again", verb);
  } else {
    End(WhyCause::kBackoff, fmt::format("pid {} has failed (attempt {}): {}", info.pid, info.attempt, error),
        "the master tries again", verb);
  }
  SetNextTry(info);
}

void ChainBuilder::EndLock(const ProcedureInfo& info) {
  End(WhyCause::kHeldLock, fmt::format("{} holds it: {}", info.owner, info.description.text()),
      "the lock is released when its holder ends, or sends no heartbeat within the time-out",
      fmt::format("ratchet unlock {}", info.pid));
  SetNextTry(info);
}

// A step runs, or the procedure waits for a worker.
void ChainBuilder::EndRunning(const ProcedureInfo& info) {
  const std::string again = "it continues by itself; repeat the command to see whether it progresses";
  if (info.running && facts_.workers.held > 0) {
    const std::int64_t age = std::max<std::int64_t>(0, facts_.now_ms - info.updated_ms);
    if (age >= kLongStep) {
      return End(
          WhyCause::kRunning,
          fmt::format("step {} has run for {} and blocks its worker: an external call does not return", info.step_name,
                      WhyAge(NotNegative(age))),
          "it continues when that call returns; while half of the workers are blocked, the master adds workers for "
          "the others",
          "look at the storage of this process, and at its log (\"worker stuck\")");
    }
  }
  if (info.running) return End(WhyCause::kRunning, "a step is running", again, "ratchet why");
  if (const auto held = HeldWorkersText(facts_.workers)) {
    return End(WhyCause::kRunning, "it is in the queue of the workers: " + *held,
               "it runs when a worker ends its step, or on an added worker",
               fmt::format("ratchet why {}", facts_.workers.longest));
  }
  End(WhyCause::kRunning, "it is in the queue of the workers", again, "ratchet why");
}

void ChainBuilder::EndStore() {
  if (facts_.store_full) return End(WhyCause::kSpace, *facts_.store_full, "it continues when there is room", kMakeRoom);
  if (!facts_.own_storage_hangs_ms) {
    return End(WhyCause::kStore, "the procedure store writes and syncs its state",
               "it continues when the storage answers", "ratchet why");
  }
  End(WhyCause::kStore,
      fmt::format("the storage of the procedure store has not answered for {}",
                  WhyAge(NotNegative(*facts_.own_storage_hangs_ms))),
      "it continues when the storage answers", "look at the disk below the root; ratchet status");
}

std::optional<pb::WhyChain> ChainOfProcedure(const WhyFacts& facts, const WhyHost& host, ProcId pid) {
  if (!facts.procedures.contains(pid)) return std::nullopt;
  ChainBuilder builder(facts, host);
  builder.FollowProcedure(pid);
  return builder.Take();
}

pb::WhyChain OneLink(const char* kind, std::string subject, std::string waits_for, std::optional<std::int64_t> for_ms,
                     CauseText cause) {
  pb::WhyChain chain;
  auto& link = Add(chain, kind, std::move(subject), for_ms);
  if (!waits_for.empty()) link.set_waits_for(std::move(waits_for));
  Set(chain, cause.cause, std::move(cause.text), std::move(cause.next), std::move(cause.verb));
  return chain;
}

std::uint64_t AgeOf(const pb::WhyChain& chain) { return chain.link_size() == 0 ? 0 : chain.link(0).for_ms(); }

std::optional<std::string> HeldWorkersText(const procedure::WorkersInfo& workers) {
  if (workers.held == 0) return std::nullopt;
  return fmt::format("{} of {} workers are blocked in steps that do not end, the longest by pid {} for {}{}",
                     workers.held, workers.workers, workers.longest, WhyAge(NotNegative(workers.longest_for.count())),
                     workers.work_waits ? "; others wait for a worker" : "");
}

std::optional<std::string> StayingStepsText(const procedure::WorkersInfo& workers) {
  if (workers.staying == 0) return std::nullopt;
  return fmt::format("{} steps wait for their own work, pid {} for {}: {}", workers.staying, workers.longest_staying,
                     WhyAge(NotNegative(workers.longest_stay.count())), workers.longest_work);
}

std::string WhyAge(std::uint64_t ms) {
  if (ms < 1'000) return fmt::format("{} ms", ms);
  if (ms < 120'000) return fmt::format("{:.1f} s", static_cast<double>(ms) / 1000);
  return fmt::format("{} min", ms / 60'000);
}

}  // namespace ratchet::host
