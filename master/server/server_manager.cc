#include "master/server/server_manager.h"

#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "master/assignment/split_workers.h"
#include "master/procedures/register_server.h"
#include "master/procedures/server_crash.h"
#include "master/server/errors.h"
#include "procedure/executor.h"

namespace ratchet::master {

std::string_view ServerPhaseName(ServerPhase phase) {
  switch (phase) {
    case ServerPhase::kOnline: return "ONLINE";
    case ServerPhase::kCrashed: return "CRASHED";
    case ServerPhase::kLogsSplit: return "LOGS_SPLIT";
  }
  return "?";
}

std::string AddressKey(const ServerName& server) { return server.host + "," + std::to_string(server.port); }

procedure::EventKey ServerManager::StandingEvent(const ServerName& server) {
  return {"server-standing/" + server.ToString()};
}

void ServerManager::Wake(const procedure::EventKey& event) {
  if (executor_ != nullptr) executor_->Wake(event);
}

Status ServerManager::AdmitStartCode(const ServerName& server, bool* known, std::vector<ServerName>* older) {
  const MutexLock lock(mutex_);
  *known = false;
  if (const auto it = nodes_.find(server); it != nodes_.end()) {
    if (it->second.phase != ServerPhase::kOnline) return YouAreDead(server, "is being recovered");
    *known = true;
    return Ok();
  }
  // It has raised the greatest start code itself, which is no reason to refuse it.
  if (registering_.contains(server) && !RATCHET_MUTANT("master.forget_registering")) {
    return PleaseHold("the registration of " + server.ToString() + " is under way; ask again");
  }
  std::uint64_t& greatest = start_codes_[AddressKey(server)];
  if (server.start_code <= greatest && !RATCHET_MUTANT("master.any_start_code")) {
    return YouAreDead(server,
                      "has a start code that is not above " + std::to_string(greatest) + ", known for its address");
  }
  greatest = server.start_code;
  for (const auto& [name, node] : nodes_) {
    if (name.SameAddress(server) && node.phase == ServerPhase::kOnline) older->push_back(name);
  }
  registering_[server] = {};
  return Ok();
}

Error ServerManager::StillRegistering(const ServerName& server, ProcId procedure) const {
  const auto info = procedure.valid() ? executor_->Get(procedure) : std::nullopt;
  const std::string paused = info && !info->paused.empty() ? ", which is paused: " + info->paused : "";
  return PleaseHold(fmt::format("the registration of {} waits for {}{}; ask again", server.ToString(),
                                procedure.valid() ? fmt::format("pid={}", procedure) : "the procedure store", paused));
}

std::optional<ProcId> ServerManager::RegistrationOf(const ServerName& server) const {
  const MutexLock lock(mutex_);
  const auto it = registering_.find(server);
  if (it == registering_.end() || RATCHET_MUTANT("master.forget_registering")) return std::nullopt;
  return it->second.procedure;
}

std::vector<ServerName> ServerManager::Registering() const {
  const MutexLock lock(mutex_);
  std::vector<ServerName> found;
  for (const auto& [name, registration] : registering_) found.push_back(name);
  return found;
}

void ServerManager::Abandon(const ServerName& server) {
  const MutexLock lock(mutex_);
  if (const auto it = registering_.find(server); it != registering_.end()) it->second.abandoned = true;
}

std::string ServerManager::TakeTurn(const ServerName& server) {
  const MutexLock lock(mutex_);
  if (RATCHET_MUTANT("master.record_late_registration")) return {};
  std::uint64_t& greatest = start_codes_[AddressKey(server)];
  if (greatest > server.start_code && !RATCHET_MUTANT("master.any_start_code")) {
    return fmt::format("has a start code that is not above {}, which came to its address meanwhile", greatest);
  }
  const auto it = registering_.find(server);
  if (it != registering_.end() && it->second.abandoned) return "its registration in ZooKeeper has gone meanwhile";
  greatest = server.start_code;
  return {};
}

void ServerManager::Register(const ServerName& server, const std::string& version, std::function<void(Status)> done) {
  if (const auto pid = RegistrationOf(server)) {
    if (pid->valid()) FinishRegistrations();
    if (RegistrationOf(server)) return done(StillRegistering(server, *pid));
  }
  bool known = false;
  std::vector<ServerName> older;
  if (Status admitted = AdmitStartCode(server, &known, &older); !admitted.ok()) return done(std::move(admitted));
  if (known) return done(Ok());
  for (const ServerName& name : older) Expire(name, "a younger server, " + server.ToString() + ", runs at its address");
  executor_->SubmitAsync(RegisterServer::Make(server, version), procedure::SubmitOptions{},
                         [this, server, version, done = std::move(done)](Result<ProcId> pid) {
                           if (!pid.ok()) return FinishRegistration(server, version, done, pid.error());
                           {
                             const MutexLock lock(mutex_);
                             if (const auto it = registering_.find(server); it != registering_.end())
                               it->second.procedure = *pid;
                           }
                           executor_->OnFinished(
                               *pid, [this, server, version, done](const procedure::ProcedureResult& result) {
                                 FinishRegistration(server, version, done, OutcomeOf(server, result));
                               });
                         });
}

Status ServerManager::OutcomeOf(const ServerName& server, const procedure::ProcedureResult& result) {
  if (result.error) return *result.error;
  if (result.result == kRegistered) return Ok();
  if (result.result.empty()) return PleaseHold("its registration was ended by an operator; ask again");
  return YouAreDead(server, result.result);
}

// One of those that hear of its end acts on it.
void ServerManager::FinishRegistration(const ServerName& server, const std::string& version,
                                       const std::function<void(Status)>& done, const Status& recorded) {
  bool mine = false;
  {
    const MutexLock lock(mutex_);
    mine = registering_.erase(server) > 0 || RATCHET_MUTANT("master.forget_registering");
    // What was not recorded may come again with the same start code; what is dead may not.
    std::uint64_t& greatest = start_codes_[AddressKey(server)];
    const bool again = !recorded.ok() && recorded.error().code() == Code::kUnavailable;
    if (again && greatest == server.start_code) --greatest;
    if (mine && recorded.ok()) nodes_.try_emplace(server);
  }
  if (!mine) return done(PleaseHold("ask again"));
  if (recorded.ok()) {
    AddOnline(server, version);
    RATCHET_LOG(kInfo, "Server {} is online", server.ToString());
  }
  done(recorded);
}

// Of registrations that an earlier master began, nobody is told when they end.
void ServerManager::FinishRegistrations() {
  std::vector<std::pair<ServerName, ProcId>> registering;
  {
    const MutexLock lock(mutex_);
    for (const auto& [server, registration] : registering_) registering.emplace_back(server, registration.procedure);
  }
  for (const auto& [server, pid] : registering) {
    if (!pid.valid()) continue;
    const procedure::ProcedureResult result = executor_->GetResult(pid);
    if (result.status == procedure::ProcedureResult::Status::kRunning) continue;
    FinishRegistration(
        server, "", [](const Status&) {}, OutcomeOf(server, result));
  }
}

void ServerManager::AddRegistering(const ServerName& server, ProcId procedure) {
  const MutexLock lock(mutex_);
  registering_[server] = {procedure, false};
  std::uint64_t& greatest = start_codes_[AddressKey(server)];
  if (greatest < server.start_code) greatest = server.start_code;
}

Status ServerManager::Heartbeat(const ServerName& server) {
  const TimePoint now = clock_.Now();
  const MutexLock lock(mutex_);
  const auto it = nodes_.find(server);
  if (it == nodes_.end()) return YouAreDead(server, "is not registered here");
  if (it->second.phase != ServerPhase::kOnline) return YouAreDead(server, "was declared dead");
  it->second.last_heartbeat = now;
  return Ok();
}

void ServerManager::Expire(const ServerName& server, const std::string& why, std::function<void(Result<ProcId>)> done) {
  {
    const MutexLock lock(mutex_);
    const auto it = nodes_.find(server);
    if (it == nodes_.end() || it->second.phase != ServerPhase::kOnline) {
      if (done) done(ProcId());
      return;
    }
    it->second.phase = ServerPhase::kCrashed;
  }
  RATCHET_LOG(kWarn, "Server {} is expired: {}", server.ToString(), why);
  Wake(StandingEvent(server));
  SubmitCrash(server, std::move(done));
}

void ServerManager::ExpireUnknown(const ServerName& server, const std::string& why) {
  {
    const MutexLock lock(mutex_);
    const auto [it, added] = nodes_.try_emplace(server);
    if (!added && it->second.phase != ServerPhase::kOnline) return;
    it->second.phase = ServerPhase::kCrashed;
  }
  RATCHET_LOG(kWarn, "Server {} is dead: {}", server.ToString(), why);
  Wake(StandingEvent(server));
  SubmitCrash(server, {});
}

void ServerManager::SubmitCrash(const ServerName& server, std::function<void(Result<ProcId>)> done) {
  {
    const MutexLock lock(mutex_);
    Node& node = nodes_[server];
    if (node.submitting || node.crash_procedure.valid()) {
      if (done) done(node.crash_procedure);
      return;
    }
    node.submitting = true;
  }
  executor_->SubmitAsync(ServerCrash::Make(server), procedure::SubmitOptions{},
                         [this, server, done = std::move(done)](Result<ProcId> pid) {
                           {
                             const MutexLock lock(mutex_);
                             // The procedure may even have finished and removed the server.
                             if (const auto it = nodes_.find(server); it != nodes_.end()) {
                               it->second.submitting = false;
                               if (pid.ok()) it->second.crash_procedure = *pid;
                             }
                           }
                           if (!pid.ok())
                             RATCHET_LOG(kError, "ServerCrash of {} not submitted: {}", server.ToString(),
                                         pid.error().ToString());
                           if (done) done(std::move(pid));
                         });
}

void ServerManager::Sweep() {
  FinishRegistrations();
  std::map<ServerName, ProcId> crashing;
  std::vector<ServerName> pending;
  {
    const MutexLock lock(mutex_);
    for (const auto& [name, node] : nodes_) {
      if (node.phase == ServerPhase::kOnline || node.submitting) continue;
      if (node.crash_procedure.valid()) {
        crashing.emplace(name, node.crash_procedure);
      } else {
        pending.push_back(name);
      }
    }
  }
  // A crash procedure forgets its server in its last step, unless an operator has ended it before: then another one is
  // due.
  for (const auto& [server, pid] : crashing) {
    if (executor_->GetResult(pid).status == procedure::ProcedureResult::Status::kRunning) continue;
    const MutexLock lock(mutex_);
    const auto it = nodes_.find(server);
    if (it == nodes_.end() || it->second.crash_procedure != pid) continue;
    it->second.crash_procedure = ProcId();
    pending.push_back(server);
  }
  for (const ServerName& server : pending) SubmitCrash(server, {});
}

bool ServerManager::IsOnline(const ServerName& server) const { return PhaseOf(server) == ServerPhase::kOnline; }

std::optional<ServerPhase> ServerManager::PhaseOf(const ServerName& server) const {
  const MutexLock lock(mutex_);
  const auto it = nodes_.find(server);
  if (it == nodes_.end()) return std::nullopt;
  return it->second.phase;
}

bool ServerManager::IsKnown(const ServerName& server) const {
  const MutexLock lock(mutex_);
  return nodes_.contains(server) || registering_.contains(server);
}

ServerStanding ServerManager::StandingOf(const ServerName& server, bool meta) const {
  const MutexLock lock(mutex_);
  const auto it = nodes_.find(server);
  if (it == nodes_.end()) return ServerStanding::kSettled;
  const Node& node = it->second;
  if (node.phase == ServerPhase::kOnline) return ServerStanding::kServes;
  if (RATCHET_MUTANT("master.settle_at_crash")) return ServerStanding::kSettled;
  if (node.phase == ServerPhase::kLogsSplit || (meta && node.meta_log_split)) return ServerStanding::kSettled;
  return ServerStanding::kAwait;
}

std::vector<ServerView> ServerManager::List() const {
  const MutexLock lock(mutex_);
  std::vector<ServerView> all;
  for (const auto& [name, node] : nodes_) {
    all.push_back({name, node.phase, node.draining, node.version, node.last_heartbeat, node.crash_procedure});
  }
  return all;
}

std::vector<ServerName> ServerManager::Online() const {
  const MutexLock lock(mutex_);
  std::vector<ServerName> found;
  for (const auto& [name, node] : nodes_) {
    if (node.phase == ServerPhase::kOnline) found.push_back(name);
  }
  return found;
}

std::vector<ServerName> ServerManager::Assignable() const {
  const MutexLock lock(mutex_);
  std::vector<ServerName> found;
  for (const auto& [name, node] : nodes_) {
    if (node.phase == ServerPhase::kOnline && !node.draining) found.push_back(name);
  }
  return found;
}

bool ServerManager::AnyDead() const {
  const MutexLock lock(mutex_);
  for (const auto& [name, node] : nodes_) {
    if (node.phase != ServerPhase::kOnline) return true;
  }
  return false;
}

void ServerManager::SetDraining(const ServerName& server, bool draining) {
  {
    const MutexLock lock(mutex_);
    if (const auto it = nodes_.find(server); it != nodes_.end()) it->second.draining = draining;
  }
  if (!draining) Wake(ServerAddedEvent());
}

void ServerManager::AddOnline(const ServerName& server, const std::string& version) {
  const TimePoint now = clock_.Now();
  {
    const MutexLock lock(mutex_);
    Node& node = nodes_[server];
    node.version = version;
    node.last_heartbeat = now;
    std::uint64_t& greatest = start_codes_[AddressKey(server)];
    if (greatest < server.start_code) greatest = server.start_code;
  }
  Wake(ServerAddedEvent());
  Wake(SplitWorkers::FreeEvent());
}

void ServerManager::AddCrashed(const ServerName& server, ProcId crash_procedure) {
  const MutexLock lock(mutex_);
  Node& node = nodes_[server];
  if (node.phase == ServerPhase::kOnline) node.phase = ServerPhase::kCrashed;
  node.crash_procedure = crash_procedure;
  std::uint64_t& greatest = start_codes_[AddressKey(server)];
  if (greatest < server.start_code) greatest = server.start_code;
}

void ServerManager::SetMetaLogSplit(const ServerName& server) {
  {
    const MutexLock lock(mutex_);
    if (const auto it = nodes_.find(server); it != nodes_.end()) it->second.meta_log_split = true;
  }
  Wake(StandingEvent(server));
}

void ServerManager::SetLogsSplit(const ServerName& server) {
  {
    const MutexLock lock(mutex_);
    if (const auto it = nodes_.find(server); it != nodes_.end()) it->second.phase = ServerPhase::kLogsSplit;
  }
  Wake(StandingEvent(server));
}

void ServerManager::Remove(const ServerName& server) {
  {
    const MutexLock lock(mutex_);
    nodes_.erase(server);
  }
  Wake(StandingEvent(server));
}

void ServerManager::RaiseStartCode(const ServerName& server) {
  const MutexLock lock(mutex_);
  std::uint64_t& greatest = start_codes_[AddressKey(server)];
  if (greatest < server.start_code) greatest = server.start_code;
}

}  // namespace ratchet::master
