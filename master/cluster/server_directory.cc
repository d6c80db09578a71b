#include "master/cluster/server_directory.h"

#include <algorithm>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/base/part_lock.h"
#include "common/base/state_moves.h"
#include "master/cluster/errors.h"
#include "master/cluster/split_workers.h"
#include "procedure/api/executor.h"

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

procedure::EventKey ServerDirectory::SettlementEvent(const ServerName& server) {
  return {"server-standing/" + server.ToString()};
}

void ServerDirectory::Wake(const procedure::EventKey& event) {
  if (executor_ != nullptr) executor_->Wake(event);
}

void ServerDirectory::Raise(const ServerName& server) {
  std::uint64_t& greatest = start_codes_[AddressKey(server)];
  if (greatest < server.start_code) greatest = server.start_code;
}

std::uint64_t ServerDirectory::GreatestStartCode(const std::string& address) const {
  const auto it = start_codes_.find(address);
  return it == start_codes_.end() ? start_code_floor_ : it->second;
}

// ---- views ----

bool ServerDirectory::IsOnline(const ServerName& server) const { return PhaseOf(server) == ServerPhase::kOnline; }

std::optional<ServerPhase> ServerDirectory::PhaseOf(const ServerName& server) const {
  const PartLock lock(mutex_);
  const auto it = nodes_.find(server);
  if (it == nodes_.end()) return std::nullopt;
  return it->second.phase;
}

bool ServerDirectory::IsKnown(const ServerName& server) const {
  const PartLock lock(mutex_);
  return nodes_.contains(server) || registering_.contains(server);
}

SettlementState ServerDirectory::SettlementOf(const ServerName& server, bool meta) const {
  const PartLock lock(mutex_);
  const auto it = nodes_.find(server);
  if (it == nodes_.end()) return SettlementState::kSettled;
  const Node& node = it->second;
  if (node.phase == ServerPhase::kOnline) return SettlementState::kServes;
  if (RATCHET_MUTANT("master.settle_at_crash")) return SettlementState::kSettled;
  if (node.phase == ServerPhase::kLogsSplit || (meta && node.meta_log_split)) return SettlementState::kSettled;
  return SettlementState::kAwait;
}

std::vector<ServerView> ServerDirectory::List() const {
  const PartLock lock(mutex_);
  std::vector<ServerView> all;
  for (const auto& [name, node] : nodes_) {
    all.push_back({name, node.phase, node.draining, node.version, node.last_heartbeat, node.crash_procedure});
  }
  return all;
}

std::vector<ServerName> ServerDirectory::Online() const {
  const PartLock lock(mutex_);
  std::vector<ServerName> found;
  for (const auto& [name, node] : nodes_) {
    if (node.phase == ServerPhase::kOnline) found.push_back(name);
  }
  return found;
}

bool ServerDirectory::AnyDead() const {
  const PartLock lock(mutex_);
  for (const auto& [name, node] : nodes_) {
    if (node.phase != ServerPhase::kOnline) return true;
  }
  return false;
}

bool ServerDirectory::WasLeaving(const ServerName& server) const {
  const PartLock lock(mutex_);
  const auto it = nodes_.find(server);
  return it != nodes_.end() && it->second.leaving;
}

// ---- changes ----

Status ServerDirectory::Heartbeat(const ServerName& server) {
  const TimePoint now = clock_.Now();
  const PartLock lock(mutex_);
  const auto it = nodes_.find(server);
  if (it == nodes_.end()) return YouAreDead(server, "is not registered here");
  if (it->second.phase != ServerPhase::kOnline) return YouAreDead(server, "was declared dead");
  it->second.last_heartbeat = now;
  return Ok();
}

void ServerDirectory::SetDraining(const ServerName& server, bool draining) {
  {
    const PartLock lock(mutex_);
    if (const auto it = nodes_.find(server); it != nodes_.end()) it->second.draining = draining;
  }
  if (!draining) Wake(ServerAddedEvent());
}

void ServerDirectory::SetLeaving(const ServerName& server) {
  const PartLock lock(mutex_);
  const auto it = nodes_.find(server);
  if (it == nodes_.end()) return;
  it->second.draining = true;
  it->second.leaving = true;
}

void ServerDirectory::AddOnline(const ServerName& server, const std::string& version) {
  const TimePoint now = clock_.Now();
  {
    const PartLock lock(mutex_);
    Node& node = nodes_[server];
    node.version = version;
    node.last_heartbeat = now;
    Raise(server);
  }
  Wake(ServerAddedEvent());
  Wake(SplitWorkers::FreeEvent());
}

void ServerDirectory::AddCrashed(const ServerName& server, ProcId crash_procedure) {
  const PartLock lock(mutex_);
  Node& node = nodes_[server];
  if (node.phase == ServerPhase::kOnline) MovePhase(node.phase, ServerPhase::kCrashed, server);
  node.crash_procedure = crash_procedure;
  Raise(server);
}

bool ServerDirectory::MarkCrashed(const ServerName& server, bool also_unknown) {
  {
    const PartLock lock(mutex_);
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

void ServerDirectory::SetMetaLogSplit(const ServerName& server) {
  {
    const PartLock lock(mutex_);
    if (const auto it = nodes_.find(server); it != nodes_.end()) it->second.meta_log_split = true;
  }
  Wake(SettlementEvent(server));
}

void ServerDirectory::SetLogsSplit(const ServerName& server) {
  {
    const PartLock lock(mutex_);
    if (const auto it = nodes_.find(server); it != nodes_.end())
      MovePhase(it->second.phase, ServerPhase::kLogsSplit, server);
  }
  Wake(SettlementEvent(server));
}

void ServerDirectory::Remove(const ServerName& server) {
  {
    const PartLock lock(mutex_);
    nodes_.erase(server);
  }
  Wake(SettlementEvent(server));
}

// ---- submissions of crash procedures ----

std::optional<ProcId> ServerDirectory::BeginSubmission(const ServerName& server) {
  const PartLock lock(mutex_);
  Node& node = nodes_[server];
  if (node.submitting || node.crash_procedure.valid()) return node.crash_procedure;
  node.submitting = true;
  return std::nullopt;
}

void ServerDirectory::EndSubmission(const ServerName& server, ProcId crash_procedure) {
  const PartLock lock(mutex_);
  const auto it = nodes_.find(server);
  if (it == nodes_.end()) return;  // the procedure has already ended and removed the server
  it->second.submitting = false;
  if (crash_procedure.valid()) it->second.crash_procedure = crash_procedure;
}

std::vector<std::pair<ServerName, ProcId>> ServerDirectory::Crashed() const {
  const PartLock lock(mutex_);
  std::vector<std::pair<ServerName, ProcId>> found;
  for (const auto& [name, node] : nodes_) {
    if (node.phase != ServerPhase::kOnline && !node.submitting) found.emplace_back(name, node.crash_procedure);
  }
  return found;
}

bool ServerDirectory::ForgetCrashProcedure(const ServerName& server, ProcId crash_procedure) {
  const PartLock lock(mutex_);
  const auto it = nodes_.find(server);
  if (it == nodes_.end() || it->second.crash_procedure != crash_procedure) return false;
  it->second.crash_procedure = ProcId();
  return true;
}

// ---- registrations ----

Result<Admission> ServerDirectory::Admit(const ServerName& server) {
  const PartLock lock(mutex_);
  Admission admission;
  if (const auto it = nodes_.find(server); it != nodes_.end()) {
    if (it->second.phase != ServerPhase::kOnline) return YouAreDead(server, "is being recovered");
    admission.known = true;
    return admission;
  }
  // The server's own registration has raised the greatest start code, so this does not refuse it.
  if (registering_.contains(server) && !RATCHET_MUTANT("master.forget_registering")) {
    return PleaseHold("the registration of " + server.ToString() + " is in progress; retry later");
  }
  const std::uint64_t greatest = GreatestStartCode(AddressKey(server));
  if (server.start_code <= greatest && !RATCHET_MUTANT("master.any_start_code")) {
    return YouAreDead(server,
                      "has a start code that is not above " + std::to_string(greatest) + ", known for its address");
  }
  start_codes_[AddressKey(server)] = server.start_code;
  for (const auto& [name, node] : nodes_) {
    if (name.SameAddress(server) && node.phase == ServerPhase::kOnline) admission.older.push_back(name);
  }
  registering_[server] = {};
  return admission;
}

void ServerDirectory::AddRegistering(const ServerName& server, ProcId procedure) {
  const PartLock lock(mutex_);
  registering_[server] = {procedure, false};
  Raise(server);
}

void ServerDirectory::SetRegistration(const ServerName& server, ProcId procedure) {
  const PartLock lock(mutex_);
  if (const auto it = registering_.find(server); it != registering_.end()) it->second.procedure = procedure;
}

std::optional<ProcId> ServerDirectory::RegistrationOf(const ServerName& server) const {
  const PartLock lock(mutex_);
  const auto it = registering_.find(server);
  if (it == registering_.end() || RATCHET_MUTANT("master.forget_registering")) return std::nullopt;
  return it->second.procedure;
}

std::vector<std::pair<ServerName, ProcId>> ServerDirectory::Registrations() const {
  const PartLock lock(mutex_);
  std::vector<std::pair<ServerName, ProcId>> found;
  for (const auto& [name, registration] : registering_) found.emplace_back(name, registration.procedure);
  return found;
}

void ServerDirectory::Abandon(const ServerName& server) {
  const PartLock lock(mutex_);
  if (const auto it = registering_.find(server); it != registering_.end()) it->second.abandoned = true;
}

std::uint64_t ServerDirectory::GreatestStartCode(const ServerName& server) const {
  const PartLock lock(mutex_);
  const auto it = start_codes_.find(AddressKey(server));
  return it == start_codes_.end() ? 0 : it->second;
}

std::string ServerDirectory::ClaimStartCode(const ServerName& server) {
  const PartLock lock(mutex_);
  if (RATCHET_MUTANT("master.record_late_registration")) return {};
  const std::uint64_t greatest = GreatestStartCode(AddressKey(server));
  if (greatest > server.start_code && !RATCHET_MUTANT("master.any_start_code")) {
    return fmt::format("has a start code that is not above {}, which registered at its address meanwhile", greatest);
  }
  const auto it = registering_.find(server);
  if (it != registering_.end() && it->second.abandoned) return "its registration in ZooKeeper is gone";
  start_codes_[AddressKey(server)] = server.start_code;
  return {};
}

bool ServerDirectory::EndRegistration(const ServerName& server, const Status& recorded) {
  const PartLock lock(mutex_);
  const bool mine = registering_.erase(server) > 0 || RATCHET_MUTANT("master.forget_registering");
  // An unrecorded server may register again with the same start code; a dead server may not.
  const auto greatest = start_codes_.find(AddressKey(server));
  const bool again = !recorded.ok() && recorded.error().code() == Code::kUnavailable;
  if (again && greatest != start_codes_.end() && greatest->second == server.start_code) --greatest->second;
  if (forgets_ == server) forgets_.reset();
  if (mine && recorded.ok()) nodes_.try_emplace(server);
  return mine;
}

void ServerDirectory::RaiseStartCode(const ServerName& server) {
  const PartLock lock(mutex_);
  Raise(server);
}

void ServerDirectory::RaiseStartCodeFloor(std::uint64_t floor) {
  const PartLock lock(mutex_);
  start_code_floor_ = std::max(start_code_floor_, floor);
}

ServerDirectory::ForgottenStartCodes ServerDirectory::ForgetStartCodes(const ServerName& server) {
  const auto now_ms = static_cast<std::uint64_t>(std::max<std::int64_t>(0, clock_.WallMillis()));
  const auto age_ms = static_cast<std::uint64_t>(kStartCodeAge.count());
  const PartLock lock(mutex_);
  if (forgets_ == server) return forgotten_;
  if (forgets_ || !registering_.contains(server) || start_codes_.size() <= kStartCodesKept) return {};
  std::set<std::string> in_use;
  for (const auto& [name, node] : nodes_) in_use.insert(AddressKey(name));
  for (const auto& [name, registration] : registering_) in_use.insert(AddressKey(name));
  std::vector<std::pair<std::uint64_t, std::string>> old;  // by start code
  for (const auto& [address, code] : start_codes_) {
    if (code < now_ms && now_ms - code > age_ms && !in_use.contains(address)) old.emplace_back(code, address);
  }
  if (old.empty()) {
    RATCHET_LOG(kWarn, "{} addresses have a recorded start code, more than {}, and none is old enough to be removed",
                start_codes_.size(), kStartCodesKept);
    return {};
  }
  const std::size_t count = std::min({old.size(), kForgottenAtOnce, start_codes_.size() - kStartCodesKept});
  std::partial_sort(old.begin(), old.begin() + static_cast<std::ptrdiff_t>(count), old.end());
  forgotten_ = {};
  for (std::size_t i = 0; i < count; ++i) {
    forgotten_.addresses.push_back(old[i].second);
    start_codes_.erase(old[i].second);
    if (!RATCHET_MUTANT("master.forget_without_floor")) start_code_floor_ = std::max(start_code_floor_, old[i].first);
  }
  forgotten_.floor = start_code_floor_;
  forgets_ = server;
  return forgotten_;
}

}  // namespace ratchet::master
