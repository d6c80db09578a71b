#include "master/rpc/problems.h"

#include <algorithm>

#include <fmt/core.h>

#include "common/model/region_state.h"
#include "master/procedures/assignment/transit_region_state.h"
#include "master/procedures/claims_of.h"
#include "master/startup/master_logic.h"

namespace ratchet::master {
namespace {

constexpr std::size_t kShown = 3;        // lines of one kind
constexpr std::int64_t kGrace = 10'000;  // ms that a transition may take before it is shown

std::string AgeText(std::int64_t ms) {
  const std::int64_t seconds = std::max<std::int64_t>(0, ms) / 1000;
  return seconds < 120 ? fmt::format("for {} s", seconds) : fmt::format("for {} min", seconds / 60);
}

std::int64_t MillisSince(TimePoint then, TimePoint now) {
  return std::chrono::duration_cast<Millis>(now - then).count();
}

std::set<ServerName> AliveServers(const ActiveParts& parts) {
  const auto online = parts.logic->servers.Online();
  return {online.begin(), online.end()};
}

void AddMeta(const ActiveParts& parts, const std::set<ServerName>& live, TimePoint now, std::vector<std::string>& out) {
  const auto meta = parts.logic->regions.Get(kMetaEncodedName);
  if (!meta.has_value() || IsServed(*meta, live)) return;
  const std::string where = meta->location.has_value() ? meta->location->ToString() : "no server";
  const std::string why = meta->state == RegionState::kOpen
                              ? fmt::format("its server {} is dead", where)
                              : fmt::format("it is {} on {}", RegionStateText(meta->state), where);
  std::string text = fmt::format("hbase:meta is offline ({}): {}", AgeText(MillisSince(meta->last_update, now)), why);
  const auto owner = meta->owner.valid() ? parts.executor->Get(meta->owner) : std::nullopt;
  if (const auto setback = owner.has_value() ? SetbackOf(*owner) : std::nullopt; meta->failed_opens > 0 && setback)
    text += fmt::format("; {} refusals to open it: {}", meta->failed_opens, setback->error);
  out.push_back(std::move(text));
}

// Describes the recovery of a dead server and its obstacle.
std::string RecoveryText(const ActiveParts& parts, ProcId crash) {
  if (!crash.valid()) return "its recovery has not started";
  std::string text = fmt::format("pid {} recovers it", crash.value());
  const auto worst = WorstSetbackOf(parts.executor->Tree(crash));
  if (worst && worst->setback.times >= kStuckRefusals) {
    text += fmt::format(", and pid {} of it has failed {} times: {}", worst->pid.value(), worst->setback.times,
                        worst->setback.error);
  }
  return text;
}

void AddServers(const ActiveParts& parts, const std::set<ServerName>& live, TimePoint now,
                std::vector<std::string>& out) {
  if (live.empty()) out.push_back("no region server is alive: start one (ratchet-regionserver)");
  std::size_t dead = 0;
  for (const ServerView& server : parts.logic->servers.List()) {
    if (server.phase == ServerPhase::kOnline || ++dead > kShown) continue;
    const std::string silent = server.last_heartbeat == TimePoint{}
                                   ? std::string("since before the start of this master")
                                   : "silent " + AgeText(MillisSince(server.last_heartbeat, now));
    out.push_back(fmt::format("server {} is dead ({}); {}", server.name.ToString(), silent,
                              RecoveryText(parts, server.crash_procedure)));
  }
  if (dead > kShown) out.push_back(fmt::format("... and {} more dead servers", dead - kShown));
}

void AddRegions(const ActiveParts& parts, const std::vector<RegionNode>& regions, const std::set<ServerName>& live,
                TimePoint now, std::int64_t now_ms, std::vector<std::string>& out) {
  std::size_t unserved = 0;
  std::size_t refused = 0;
  std::int64_t oldest = 0;
  for (const RegionNode& region : regions) {
    if (region.info.IsMeta()) continue;
    if (region.state == RegionState::kOpen && !IsServed(region, live)) {
      ++unserved;
      oldest = std::max(oldest, MillisSince(region.last_update, now));
    }
    if (region.failed_opens < kStuckRefusals || !region.owner.valid() || ++refused > kShown) continue;
    const auto owner = parts.executor->Get(region.owner);
    const auto setback = owner.has_value() ? SetbackOf(*owner) : std::nullopt;
    out.push_back(fmt::format("region {} of table {} cannot be opened ({}, {} refusals): {}",
                              region.info.encoded_name(), region.info.table.ToString(),
                              AgeText(owner.has_value() ? now_ms - owner->submitted_ms : 0), region.failed_opens,
                              setback.has_value() ? setback->error : "see ratchet regions"));
  }
  if (refused > kShown) out.push_back(fmt::format("... and {} more regions that cannot be opened", refused - kShown));
  if (unserved > 0)
    out.push_back(fmt::format("{} regions are on dead servers, the oldest state {}", unserved, AgeText(oldest)));
}

void AddTransitions(const std::vector<RegionNode>& regions, TimePoint now, std::vector<std::string>& out) {
  std::size_t slow = 0;
  std::int64_t oldest = 0;
  for (const RegionNode& region : regions) {
    const std::int64_t age = MillisSince(region.last_update, now);
    if (!region.owner.valid() || region.failed_opens >= kStuckRefusals || age < kGrace) continue;
    ++slow;
    oldest = std::max(oldest, age);
  }
  if (slow > 0) {
    out.push_back(
        fmt::format("{} regions in transition without progress, the oldest {} (ratchet regions --in-transition)", slow,
                    AgeText(oldest)));
  }
}

// Logs that wait for a peer are kept without limit, so the wait must be visible.
void AddReplication(const ActiveParts& parts, std::vector<std::string>& out) {
  const Millis wait = parts.logic->env.options.replication_wait;
  std::size_t late = 0;
  for (const auto& [teller, progress] : parts.logic->peers.Progress()) {
    if (Millis(static_cast<std::int64_t>(progress.lag_ms())) < wait || ++late > kShown) continue;
    out.push_back(fmt::format("replication peer {} has not received entries of {} in {} logs ({}), which are kept: {}",
                              progress.peer(), progress.server(), progress.logs(),
                              AgeText(static_cast<std::int64_t>(progress.lag_ms())),
                              progress.error().empty() ? "the peer is disabled, or slow" : progress.error()));
  }
  if (late > kShown) out.push_back(fmt::format("... and {} more queues of replication", late - kShown));
}

// S134 (damaged record denies its scope): only a superuser can put it right.
void AddRights(const ActiveParts& parts, std::vector<std::string>& out) {
  const std::vector<std::string> damaged = parts.logic->rights.DamagedKeys();
  for (std::size_t i = 0; i < std::min(damaged.size(), kShown); ++i)
    out.push_back(
        fmt::format("the record {} cannot be read: its scope is denied to all users but superusers, until one "
                    "grants or revokes that right",
                    damaged[i]));
  if (damaged.size() > kShown)
    out.push_back(fmt::format("... and {} more records of rights that cannot be read", damaged.size() - kShown));
}

}  // namespace

bool IsServed(const RegionNode& region, const std::set<ServerName>& live) {
  return region.state == RegionState::kOpen && region.location.has_value() && live.contains(*region.location);
}

std::vector<std::string> FindProblems(const ActiveParts& parts, const std::vector<RegionNode>& regions, TimePoint now,
                                      std::int64_t now_ms) {
  const auto live = AliveServers(parts);
  std::vector<std::string> problems;
  AddMeta(parts, live, now, problems);
  AddServers(parts, live, now, problems);
  AddRegions(parts, regions, live, now, now_ms, problems);
  AddTransitions(regions, now, problems);
  AddReplication(parts, problems);
  AddRights(parts, problems);
  if (std::string quotas = parts.logic->quota_manager.problem(); !quotas.empty()) problems.push_back(std::move(quotas));
  return problems;
}

std::size_t CountRefused(const ActiveParts& parts, const std::vector<RegionNode>& regions,
                         std::uint32_t shown_attempts) {
  std::size_t count = 0;
  for (const RegionNode& region : regions) {
    if (region.failed_opens < kStuckRefusals || !region.owner.valid()) continue;
    const auto owner = parts.executor->Get(region.owner);
    if (owner.has_value() && owner->attempt <= shown_attempts && owner->parked.empty()) ++count;
  }
  for (const std::string_view type : TypesThatClaim(kClaimsSetback)) {
    if (type == TransitRegionState::kTypeName) continue;  // counted by region
    for (const ProcId pid : parts.executor->FindUnfinished(type)) {
      const auto info = parts.executor->Get(pid);
      if (!info || info->attempt > shown_attempts || !info->parked.empty()) continue;
      const auto setback = SetbackOf(*info);
      if (setback && setback->times >= kStuckRefusals) ++count;
    }
  }
  return count;
}

}  // namespace ratchet::master
