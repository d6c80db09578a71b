#include "master/requests/server_manager.h"

#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "master/cluster/errors.h"
#include "master/cluster/membership.h"
#include "master/cluster/registrations.h"
#include "master/procedures/admin/register_server.h"
#include "master/procedures/crash/server_crash.h"
#include "procedure/api/executor.h"

namespace ratchet::master {

Error ServerManager::StillRegistering(const ServerName& server, ProcId procedure) const {
  const auto info = procedure.valid() ? executor_->Get(procedure) : std::nullopt;
  const std::string paused = info && !info->paused.empty() ? ", which is paused: " + info->paused : "";
  return PleaseHold(fmt::format("the registration of {} waits for {}{}; retry later", server.ToString(),
                                procedure.valid() ? fmt::format("pid={}", procedure) : "the procedure store", paused));
}

std::vector<ServerName> ServerManager::Registering() const {
  std::vector<ServerName> found;
  for (const auto& [name, pid] : registrations_.List()) found.push_back(name);
  return found;
}

void ServerManager::Register(const ServerName& server, const std::string& version, std::function<void(Status)> done) {
  if (const auto pid = registrations_.RegistrationOf(server)) {
    if (pid->valid()) FinishRegistrations();
    if (registrations_.RegistrationOf(server)) return done(StillRegistering(server, *pid));
  }
  const Result<Admission> admitted = registrations_.Admit(server);
  if (!admitted.ok()) return done(admitted.error());
  if (admitted->known) return done(Ok());
  for (const ServerName& name : admitted->older) {
    Expire(name, "a newer server, " + server.ToString() + ", runs at its address");
  }
  executor_->SubmitAsync(RegisterServer::Make(server, version), procedure::SubmitOptions{},
                         [this, server, version, done = std::move(done)](Result<ProcId> pid) {
                           if (!pid.ok()) return FinishRegistration(server, version, done, pid.error());
                           registrations_.SetRegistration(server, *pid);
                           executor_->OnFinished(
                               *pid, [this, server, version, done](const procedure::ProcedureResult& result) {
                                 FinishRegistration(server, version, done, OutcomeOf(server, result));
                               });
                         });
}

Status ServerManager::OutcomeOf(const ServerName& server, const procedure::ProcedureResult& result) {
  if (result.error) return *result.error;
  if (result.result == kRegistered) return Ok();
  if (result.result.empty()) return PleaseHold("its registration was ended by an operator; retry");
  return YouAreDead(server, result.result);
}

// Several callers may be notified of the end; only the first acts on it.
void ServerManager::FinishRegistration(const ServerName& server, const std::string& version,
                                       const std::function<void(Status)>& done, const Status& recorded) {
  if (!registrations_.EndRegistration(server, recorded)) return done(PleaseHold("ask again"));
  if (recorded.ok()) {
    registrations_.RaiseStartCode(server);
    members_.AddOnline(server, version);
    RATCHET_LOG(kInfo, "Server {} is online", server.ToString());
  }
  done(recorded);
}

// No caller waits for registrations that an earlier master began, so the sweep finishes them.
void ServerManager::FinishRegistrations() {
  for (const auto& [server, pid] : registrations_.List()) {
    if (!pid.valid()) continue;
    const procedure::ProcedureResult result = executor_->GetResult(pid);
    if (result.status == procedure::ProcedureResult::Status::kRunning) continue;
    FinishRegistration(
        server, "", [](const Status&) {}, OutcomeOf(server, result));
  }
}

void ServerManager::Expire(const ServerName& server, const std::string& why, std::function<void(Result<ProcId>)> done) {
  if (!members_.MarkCrashed(server, /*also_unknown=*/false)) {
    if (done) done(ProcId());
    return;
  }
  RATCHET_LOG(kWarn, "Server {} is expired: {}", server.ToString(), why);
  SubmitCrash(server, why, std::move(done));
}

void ServerManager::ExpireUnknown(const ServerName& server, const std::string& why) {
  if (!members_.MarkCrashed(server, /*also_unknown=*/true)) return;
  RATCHET_LOG(kWarn, "Server {} is dead: {}", server.ToString(), why);
  SubmitCrash(server, why, {});
}

void ServerManager::SubmitCrash(const ServerName& server, const std::string& why,
                                std::function<void(Result<ProcId>)> done) {
  if (const auto exists = members_.BeginSubmission(server)) {
    if (done) done(*exists);
    return;
  }
  executor_->SubmitAsync(ServerCrash::Make(server, why), procedure::SubmitOptions{},
                         [this, server, done = std::move(done)](Result<ProcId> pid) {
                           members_.EndSubmission(server, pid.ok() ? *pid : ProcId());
                           if (!pid.ok()) {
                             RATCHET_LOG(kError, "Cannot submit ServerCrash of {}: {}", server.ToString(),
                                         pid.error().ToString());
                           }
                           if (done) done(std::move(pid));
                         });
}

// A crash procedure removes its server in its last step, unless an operator ended it before; then a new one is
// submitted.
void ServerManager::Sweep() {
  FinishRegistrations();
  for (const auto& [server, pid] : members_.Crashed()) {
    if (pid.valid()) {
      if (executor_->GetResult(pid).status == procedure::ProcedureResult::Status::kRunning) continue;
      if (!members_.ForgetCrashProcedure(server, pid)) continue;
    }
    SubmitCrash(server, {}, {});
  }
}

}  // namespace ratchet::master
