#include "master/cluster/membership.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "common/base/mutant.h"
#include "common/base/part_lock.h"
#include "common/base/state_moves.h"
#include "common/model/region_info.h"
#include "master/cluster/errors.h"
#include "master/cluster/split_workers.h"

namespace ratchet::master {

std::string_view ServerPhaseName(ServerPhase phase) {
  switch (phase) {
    case ServerPhase::kOnline: return "ONLINE";
    case ServerPhase::kCrashed: return "CRASHED";
    case ServerPhase::kLogsSplit: return "LOGS_SPLIT";
  }
  return "?";
}

namespace {

StateSet<ServerPhase> MovesFrom(ServerPhase from) {
  switch (from) {
    case ServerPhase::kOnline: return {ServerPhase::kCrashed};
    case ServerPhase::kCrashed: return {ServerPhase::kLogsSplit};
    case ServerPhase::kLogsSplit: return {};
  }
  return {};
}

// Throws at an illegal move, which fails the calling step, because steps follow stored records, which may be corrupt.
void MovePhase(ServerPhase& phase, ServerPhase to, const ServerName& server) {
  if (!IsLegalMove(phase, to)) {
    throw std::logic_error(fmt::format("server {}: illegal move from {} to {}", server.ToString(),
                                       ServerPhaseName(phase), ServerPhaseName(to)));
  }
  phase = to;
}

}  // namespace

bool IsLegalMove(ServerPhase from, ServerPhase to) { return MayGo(from, to, MovesFrom(from)); }

procedure::EventKey Membership::SettlementEvent(const ServerName& server) {
  return {"server-standing/" + server.ToString()};
}

void Membership::Wake(const procedure::EventKey& event) {
  if (wake_) wake_(event);
}

// ---- views ----

bool Membership::IsOnline(const ServerName& server) const { return PhaseOf(server) == ServerPhase::kOnline; }

std::optional<ServerPhase> Membership::PhaseOf(const ServerName& server) const {
  const PartLock lock(mutex_);
  const auto it = nodes_.find(server);
  if (it == nodes_.end()) return std::nullopt;
  return it->second.phase;
}

SettlementState Membership::SettlementOf(const ServerName& server, std::string_view region) const {
  std::optional<TimePoint> back_until;
  {
    const PartLock lock(mutex_);
    const auto it = nodes_.find(server);
    if (it == nodes_.end()) return SettlementState::kSettled;
    const Node& node = it->second;
    if (node.phase == ServerPhase::kOnline) return SettlementState::kServes;
    const bool meta = region == kMetaEncodedName;
    const bool is_split = node.phase == ServerPhase::kLogsSplit || (meta && node.meta_log_split);
    if (is_split || RATCHET_MUTANT("master.settle_at_crash")) return SettlementState::kSettled;
    const bool unnamed = !region.empty() && !meta && node.named && !node.named->contains(region);
    if (!unnamed) return SettlementState::kAwait;
    back_until = back_until_;
  }
  // S171 (seal makes an index). While servers may return after a restart of the whole cluster, regions wait for the
  // server at the same address.
  return !back_until || clock_.Now() >= *back_until ? SettlementState::kSettled : SettlementState::kAwait;
}

std::vector<ServerView> Membership::List() const {
  const PartLock lock(mutex_);
  std::vector<ServerView> all;
  for (const auto& [name, node] : nodes_) {
    all.push_back({name, node.phase, node.draining, node.version, node.last_heartbeat, node.crash_procedure});
  }
  return all;
}

std::vector<ServerName> Membership::Online() const {
  const PartLock lock(mutex_);
  std::vector<ServerName> found;
  for (const auto& [name, node] : nodes_) {
    if (node.phase == ServerPhase::kOnline) found.push_back(name);
  }
  return found;
}

std::vector<ServerName> Membership::OlderAtAddressOf(const ServerName& server) const {
  const PartLock lock(mutex_);
  std::vector<ServerName> found;
  for (const auto& [name, node] : nodes_) {
    const bool older = name.SameAddress(server) && name.start_code < server.start_code;
    if (older && node.phase == ServerPhase::kOnline) found.push_back(name);
  }
  return found;
}

std::vector<ServerName> Membership::NotDraining() const {
  const PartLock lock(mutex_);
  std::vector<ServerName> found;
  for (const auto& [name, node] : nodes_) {
    if (node.phase == ServerPhase::kOnline && !node.draining) found.push_back(name);
  }
  return found;
}

std::vector<VersionedServer> Membership::WithVersions(const std::vector<ServerName>& servers) const {
  const PartLock lock(mutex_);
  std::vector<VersionedServer> found;
  for (const ServerName& server : servers) {
    if (const auto node = nodes_.find(server); node != nodes_.end()) found.push_back({server, node->second.version});
  }
  return found;
}

std::vector<ServerName> Membership::Names() const {
  const PartLock lock(mutex_);
  std::vector<ServerName> names;
  names.reserve(nodes_.size());
  for (const auto& [name, node] : nodes_) names.push_back(name);
  return names;
}

bool Membership::AnyDead() const {
  const PartLock lock(mutex_);
  for (const auto& [name, node] : nodes_) {
    if (node.phase != ServerPhase::kOnline) return true;
  }
  return false;
}

bool Membership::WasLeaving(const ServerName& server) const {
  const PartLock lock(mutex_);
  const auto it = nodes_.find(server);
  return it != nodes_.end() && it->second.leaving;
}

bool Membership::FoundNoneOnline() const {
  const PartLock lock(mutex_);
  return back_until_.has_value();
}

bool Membership::MayComeBack(const ServerName& server) const {
  const TimePoint now = clock_.Now();
  const PartLock lock(mutex_);
  if (!back_until_ || now >= *back_until_) return false;
  return std::none_of(nodes_.begin(), nodes_.end(), [&server](const auto& each) {
    return each.second.phase == ServerPhase::kOnline && each.first.SameAddress(server);
  });
}

// ---- changes ----

void Membership::SetFoundNoneOnline(Millis wait) {
  const TimePoint until = clock_.Now() + wait;
  const PartLock lock(mutex_);
  back_until_ = until;
}

Status Membership::Heartbeat(const ServerName& server) {
  const TimePoint now = clock_.Now();
  const PartLock lock(mutex_);
  const auto it = nodes_.find(server);
  if (it == nodes_.end()) return YouAreDead(server, "is not registered here");
  if (it->second.phase != ServerPhase::kOnline) return YouAreDead(server, "was declared dead");
  it->second.last_heartbeat = now;
  return Ok();
}

void Membership::SetDraining(const ServerName& server, bool draining) {
  {
    const PartLock lock(mutex_);
    ++changes_;
    if (const auto it = nodes_.find(server); it != nodes_.end()) it->second.draining = draining;
  }
  if (!draining) Wake(ServerAddedEvent());
}

void Membership::SetLeaving(const ServerName& server) {
  const PartLock lock(mutex_);
  ++changes_;
  const auto it = nodes_.find(server);
  if (it == nodes_.end()) return;
  it->second.draining = true;
  it->second.leaving = true;
}

void Membership::AddRegistered(const ServerName& server) {
  const PartLock lock(mutex_);
  ++changes_;
  nodes_.try_emplace(server);
}

void Membership::AddOnline(const ServerName& server, const std::string& version) {
  const TimePoint now = clock_.Now();
  {
    const PartLock lock(mutex_);
    ++changes_;
    Node& node = nodes_[server];
    node.version = version;
    node.last_heartbeat = now;
  }
  Wake(ServerAddedEvent());
  Wake(SplitWorkers::FreeEvent());
}

void Membership::AddCrashed(const ServerName& server, ProcId crash_procedure) {
  const PartLock lock(mutex_);
  ++changes_;
  Node& node = nodes_[server];
  if (node.phase == ServerPhase::kOnline) MovePhase(node.phase, ServerPhase::kCrashed, server);
  node.crash_procedure = crash_procedure;
}

bool Membership::MarkCrashed(const ServerName& server, bool also_unknown) {
  {
    const PartLock lock(mutex_);
    ++changes_;
    auto it = nodes_.find(server);
    if (it == nodes_.end()) {
      if (!also_unknown) return false;
      it = nodes_.try_emplace(server).first;
    } else if (it->second.phase != ServerPhase::kOnline) {
      return false;
    }
    MovePhase(it->second.phase, ServerPhase::kCrashed, server);
  }
  Wake(SettlementEvent(server));
  return true;
}

void Membership::SetMetaLogSplit(const ServerName& server) {
  {
    const PartLock lock(mutex_);
    if (const auto it = nodes_.find(server); it != nodes_.end()) it->second.meta_log_split = true;
  }
  Wake(SettlementEvent(server));
}

void Membership::SetNamedRegions(const ServerName& server, std::optional<RegionNames> named) {
  {
    const PartLock lock(mutex_);
    if (const auto it = nodes_.find(server); it != nodes_.end()) it->second.named = std::move(named);
  }
  Wake(SettlementEvent(server));
}

void Membership::SetLogsSplit(const ServerName& server) {
  {
    const PartLock lock(mutex_);
    if (const auto it = nodes_.find(server); it != nodes_.end())
      MovePhase(it->second.phase, ServerPhase::kLogsSplit, server);
  }
  Wake(SettlementEvent(server));
}

void Membership::Remove(const ServerName& server) {
  {
    const PartLock lock(mutex_);
    ++changes_;
    nodes_.erase(server);
  }
  Wake(SettlementEvent(server));
}

// ---- submissions of crash procedures ----

std::optional<ProcId> Membership::BeginSubmission(const ServerName& server) {
  const PartLock lock(mutex_);
  Node& node = nodes_[server];
  if (node.submitting || node.crash_procedure.valid()) return node.crash_procedure;
  node.submitting = true;
  return std::nullopt;
}

void Membership::EndSubmission(const ServerName& server, ProcId crash_procedure) {
  const PartLock lock(mutex_);
  const auto it = nodes_.find(server);
  if (it == nodes_.end()) return;  // the procedure has already ended and removed the server
  it->second.submitting = false;
  if (crash_procedure.valid()) it->second.crash_procedure = crash_procedure;
}

std::vector<std::pair<ServerName, ProcId>> Membership::Crashed() const {
  const PartLock lock(mutex_);
  std::vector<std::pair<ServerName, ProcId>> found;
  for (const auto& [name, node] : nodes_) {
    if (node.phase != ServerPhase::kOnline && !node.submitting) found.emplace_back(name, node.crash_procedure);
  }
  return found;
}

bool Membership::ForgetCrashProcedure(const ServerName& server, ProcId crash_procedure) {
  const PartLock lock(mutex_);
  const auto it = nodes_.find(server);
  if (it == nodes_.end() || it->second.crash_procedure != crash_procedure) return false;
  it->second.crash_procedure = ProcId();
  return true;
}

}  // namespace ratchet::master
