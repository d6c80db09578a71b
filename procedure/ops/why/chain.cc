#include "procedure/ops/why/chain.h"

#include <algorithm>

#include <fmt/core.h>

#include "common/model/region_info.h"
#include "procedure/ops/why/chain_builder.h"

namespace ratchet::host {
namespace {

using procedure::ProcedureInfo;
using WaitKind = procedure::WaitingOn::Kind;

constexpr int kMostLinks = 50;  // maximum length of one chain

std::string SubjectOf(const ProcedureInfo& info) {
  return fmt::format("pid {} {} {}", info.pid, info.type, info.description);
}

// Each try changes a procedure, so the wait of one that keeps failing counts from its submission.
std::int64_t SinceUpdate(const WhyFacts& facts, const ProcedureInfo& info) {
  const std::int64_t since = facts.keeps_failing.contains(info.pid) ? info.submitted_ms : info.updated_ms;
  return std::max<std::int64_t>(0, facts.now_ms - since);
}

std::string PidList(const std::vector<ProcId>& pids) {
  constexpr std::size_t kShown = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(pids.size(), kShown); ++i)
    text += fmt::format("{}pid {}", i == 0 ? "" : ", ", pids[i]);
  if (pids.size() > kShown) text += fmt::format(" and {} more", pids.size() - kShown);
  return text;
}

}  // namespace

::ratchet::pb::WhyLink& ChainBuilder::AddLink(const char* kind, std::string subject,
                                              std::optional<std::int64_t> for_ms) {
  auto& link = *chain_.add_link();
  link.set_kind(kind);
  link.set_subject(std::move(subject));
  if (for_ms.has_value()) link.set_for_ms(static_cast<std::uint64_t>(std::max<std::int64_t>(0, *for_ms)));
  return link;
}

void ChainBuilder::FollowProcedure(ProcId pid) {
  const auto found = facts_.procedures.find(pid);
  if (found == facts_.procedures.end()) {
    AddLink("procedure", fmt::format("pid {}", pid), std::nullopt);
    return End("GONE", fmt::format("pid {} has ended meanwhile", pid), "what waited for it continues", "ratchet why");
  }
  const ProcedureInfo& info = found->second;
  if (chain_.link_size() >= kMostLinks) {
    AddLink("procedure", SubjectOf(info), SinceUpdate(facts_, info));
    return End("GOES_ON", fmt::format("{} links lead to pid {}, and the chain continues there", kMostLinks, pid),
               "what the last link waits for", fmt::format("ratchet why {}", pid));
  }
  if (!seen_.insert(pid).second) {
    AddLink("procedure", SubjectOf(info), SinceUpdate(facts_, info));
    return End("RING", fmt::format("deadlock: pid {} waits for itself", pid),
               "nothing: a deadlock does not end by itself; it is a defect",
               fmt::format("ratchet abort {} (or bypass, where it cannot be aborted)", pid));
  }
  std::string subject = SubjectOf(info);
  if (chain_.link_size() == 0 && info.nonce != 0) {
    subject += fmt::format(" (asked for by {} under nonce {}:{})", info.owner, info.nonce_group, info.nonce);
  }
  auto& link = AddLink("procedure", std::move(subject), SinceUpdate(facts_, info));
  FollowWaiting(info, link);
}

void ChainBuilder::FollowWaiting(const ProcedureInfo& info, ::ratchet::pb::WhyLink& link) {
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
      auto& lock = AddLink("lock", fmt::format("lock {}", info.waiting.detail), SinceUpdate(facts_, info));
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
      return End("LIMIT",
                 fmt::format("{}: no more may run at once ({})", info.waiting.detail,
                             info.waiting.procedures.empty() ? "none is shown" : PidList(info.waiting.procedures)),
                 "it runs when one of these steps ends",
                 info.waiting.procedures.empty()
                     ? std::string("ratchet locks; --procedure-steps-per-table and -per-server set the limits")
                     : fmt::format("ratchet why {} (why its step does not end); --procedure-steps-per-table and "
                                   "-per-server set the limits",
                                   info.waiting.procedures.front()));
    case WaitKind::kRetry:
      if (!info.failing && WaitsForMeta(info)) {
        link.set_waits_for(
            fmt::format("step {}: the next try; the server of hbase:meta does not answer", info.step_name));
        return FollowRegion(std::string(kMetaEncodedName));
      }
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

// True for a step without an answer in time while the server of hbase:meta is silent: most steps write there.
bool ChainBuilder::WaitsForMeta(const ProcedureInfo& info) const {
  const bool without_answer =
      info.last_error && (info.last_error->code() == Code::kTimeout || info.last_error->code() == Code::kUnavailable);
  const auto meta = facts_.regions.find(std::string(kMetaEncodedName));
  if (!without_answer || meta == facts_.regions.end()) return false;
  const auto server = facts_.servers.find(meta->second.server);
  return server != facts_.servers.end() && server->second.online && server->second.silent_ms.value_or(0) >= kSilent;
}

// The procedure waits for no other one. It waits for a server's answer, for hbase:meta, or for a server that can take a
// region.
void ChainBuilder::FollowOutside(const ProcedureInfo& info, ::ratchet::pb::WhyLink& link) {
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
    return End("OUTSIDE", fmt::format("the step's own work has not ended: {}", info.waiting.detail),
               "it continues when that work ends; operators' verbs on it wait too",
               "if it does not end, look at the storage that it names, from the master's host");
  }
  if (const auto order = facts_.order_targets.find(info.pid); order != facts_.order_targets.end())
    return FollowOrder(info, order->second, link);
  if (const auto refused = facts_.refusals.find(info.pid);
      refused != facts_.refusals.end() && info.type == "TransitRegionState") {
    link.set_waits_for(fmt::format("step {}: the next try", info.step_name));
    return EndRetry(info);
  }
  const bool any_online =
      std::any_of(facts_.servers.begin(), facts_.servers.end(), [](const auto& entry) { return entry.second.online; });
  if (facts_.has_servers && !any_online) {
    link.set_waits_for(fmt::format("step {}: a region server", info.step_name));
    return EndNoServer();
  }
  const auto meta = facts_.regions.find(std::string(kMetaEncodedName));
  if (meta != facts_.regions.end() && !meta->second.served) {
    link.set_waits_for(fmt::format("step {}: hbase:meta", info.step_name));
    return FollowRegion(std::string(kMetaEncodedName));
  }
  if (!facts_.meta_loaded) {
    link.set_waits_for(fmt::format("step {}: hbase:meta to be loaded by the master", info.step_name));
    return End("STARTING", fmt::format("the master is starting: {}", facts_.step), "it continues when meta is loaded",
               "ratchet status");
  }
  const bool of_event = info.waiting.kind == WaitKind::kEvent;
  const std::string what =
      info.waiting.detail.empty() ? std::string("an event") : (of_event ? "the event " : "") + info.waiting.detail;
  link.set_waits_for(fmt::format("step {}: {}", info.step_name, what));
  End("OUTSIDE", fmt::format("work outside of the procedures: {}", what), "it continues when that work ends",
      fmt::format("ratchet procedure {}", info.pid));
  if (info.waiting.next_try_in) chain_.set_next_in_ms(static_cast<std::uint64_t>(info.waiting.next_try_in->count()));
}

void ChainBuilder::FollowOrder(const ProcedureInfo& info, const std::string& server, ::ratchet::pb::WhyLink& link) {
  link.set_waits_for(fmt::format("step {}: the answer to its order", info.step_name));
  auto& order = AddLink("order", fmt::format("order {} ({}) to server {}", info.pid, info.type, server),
                        SinceUpdate(facts_, info));
  order.set_waits_for("the answer of server " + server);
  FollowServer(server);
  const bool unanswered = chain_.cause() == "UNANSWERED";
  if (unanswered && info.waiting.next_try_in)
    chain_.set_next_in_ms(static_cast<std::uint64_t>(info.waiting.next_try_in->count()));
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
  End("GONE", "what it waited for has ended meanwhile", "it continues", "ratchet why");
}

void ChainBuilder::FollowServer(const std::string& name) {
  const auto found = facts_.servers.find(name);
  if (found == facts_.servers.end()) {
    AddLink("server", "server " + name, std::nullopt);
    return End("GONE", fmt::format("server {} is no longer known: it has been recovered", name),
               "what waited for it continues", "ratchet why");
  }
  const WhyServer& server = found->second;
  auto& link = AddLink("server", "server " + name, server.silent_ms);
  if (server.online) return EndServer(name, server);
  if (!server.crash_procedure.valid()) {
    link.set_waits_for("its recovery to begin");
    return End("SERVER_DEAD", fmt::format("server {} is dead, and its recovery has not begun", name),
               "the master submits a ServerCrash procedure", "ratchet status");
  }
  link.set_waits_for(fmt::format("its recovery: pid {}", server.crash_procedure));
  FollowProcedure(server.crash_procedure);
}

void ChainBuilder::FollowRegion(const std::string& encoded) {
  const auto found = facts_.regions.find(encoded);
  if (found == facts_.regions.end()) return;
  const WhyRegion& region = found->second;
  auto& link =
      AddLink("region", fmt::format("region {} of table {}, {}", encoded, region.table, region.state), region.since_ms);
  if (region.owner.valid()) {
    link.set_waits_for(fmt::format("pid {}, which owns its transition", region.owner));
    return FollowProcedure(region.owner);
  }
  const auto server = facts_.servers.find(region.server);
  if (server != facts_.servers.end()) {
    link.set_waits_for("server " + region.server);
    return FollowServer(region.server);
  }
  link.set_waits_for("a procedure that opens it");
  End("NO_PROCEDURE", fmt::format("region {} is {} and no procedure works on it", encoded, region.state),
      "the reconciler looks at it in its next round", "ratchet reconcile; ratchet assign " + encoded);
}

std::optional<::ratchet::pb::WhyChain> ChainOfProcedure(const WhyFacts& facts, ProcId pid) {
  const auto found = facts.procedures.find(pid);
  if (found == facts.procedures.end()) return std::nullopt;
  ChainBuilder builder(facts);
  builder.FollowProcedure(pid);
  return builder.Take();
}

std::optional<::ratchet::pb::WhyChain> ChainOfServer(const WhyFacts& facts, const std::string& server) {
  if (!facts.servers.contains(server)) return std::nullopt;
  ChainBuilder builder(facts);
  builder.FollowServer(server);
  auto chain = builder.Take();
  const bool idle = facts.servers.at(server).orders == 0;
  if (chain.cause() == "UNANSWERED" && idle) return std::nullopt;  // it answers, and no order is pending for it
  return chain;
}

std::optional<::ratchet::pb::WhyChain> ChainOfRegion(const WhyFacts& facts, const std::string& encoded) {
  const auto found = facts.regions.find(encoded);
  if (found == facts.regions.end()) return std::nullopt;
  if (!found->second.owner.valid() && (found->second.served || found->second.at_rest)) return std::nullopt;
  ChainBuilder builder(facts);
  builder.FollowRegion(encoded);
  return builder.Take();
}

std::uint64_t AgeOf(const ::ratchet::pb::WhyChain& chain) {
  return chain.link_size() == 0 ? 0 : chain.link(0).for_ms();
}

std::optional<std::string> HeldWorkersText(const procedure::WorkersInfo& workers) {
  if (workers.held == 0) return std::nullopt;
  return fmt::format("{} of {} workers are blocked in steps that do not end, the longest by pid {} for {}{}",
                     workers.held, workers.workers, workers.longest,
                     WhyAge(static_cast<std::uint64_t>(std::max<std::int64_t>(0, workers.longest_for.count()))),
                     workers.work_waits ? "; others wait for a worker" : "");
}

std::optional<std::string> StayingStepsText(const procedure::WorkersInfo& workers) {
  if (workers.staying == 0) return std::nullopt;
  return fmt::format("{} steps wait for their own work, pid {} for {}: {}", workers.staying, workers.longest_staying,
                     WhyAge(static_cast<std::uint64_t>(std::max<std::int64_t>(0, workers.longest_stay.count()))),
                     workers.longest_work);
}

std::string WhyAge(std::uint64_t ms) {
  if (ms < 1'000) return fmt::format("{} ms", ms);
  if (ms < 120'000) return fmt::format("{:.1f} s", static_cast<double>(ms) / 1000);
  return fmt::format("{} min", ms / 60'000);
}

}  // namespace ratchet::host
