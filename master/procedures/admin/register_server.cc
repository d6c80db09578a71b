#include "master/procedures/admin/register_server.h"

#include <utility>

#include "common/base/log.h"
#include "master/cluster/address_key.h"
#include "master/cluster/membership.h"
#include "master/cluster/registrations.h"

namespace ratchet::master {

ProcedurePtr RegisterServer::Make(const ServerName& server, const std::string& version) {
  pb::RegisterServerData data;
  data.set_server(server.ToString());
  data.set_version(version);
  return std::make_unique<RegisterServer>(std::move(data));
}

// Locks two keys: the record of this incarnation, and the start code of its address. A newer incarnation raises the
// start code while the crash procedure of an older one may still hold the lock of the older record.
procedure::LockSet RegisterServer::Locks() const {
  using procedure::ResourceKey;
  return {procedure::Exclusive(ResourceKey::Server(data_.server())),
          procedure::Exclusive(ResourceKey::Server(AddressKey(ServerFromData(data_.server()))))};
}

void RegisterServer::OnRecovered(const procedure::EnvRef& env) {
  env.As<MasterEnv>().registrations.AddRegistering(ServerFromData(data_.server()), pid());
}

StepOutcome RegisterServer::Record(StepContext& ctx) {
  const ServerName server = ServerFromData(data_.server());
  if (std::string late = EnvOf(ctx).registrations.ClaimStartCode(server); !late.empty()) {
    RATCHET_LOG(kWarn, "pid={} cannot register {}: {}", ctx.pid(), data_.server(), late);
    return Done{std::move(late)};
  }
  ctx.PutSystemRecord(std::string(kServerRecordPrefix) + data_.server(), data_.version());
  ctx.PutSystemRecord(std::string(kStartCodeRecordPrefix) + AddressKey(server), std::to_string(server.start_code));
  const auto forgotten = EnvOf(ctx).registrations.ForgetStartCodes(server);
  for (const std::string& address : forgotten.addresses) {
    ctx.DeleteSystemRecord(std::string(kStartCodeRecordPrefix) + address);
  }
  if (!forgotten.addresses.empty()) {
    ctx.PutSystemRecord(std::string(kStartCodeFloorRecord), std::to_string(forgotten.floor));
    RATCHET_LOG(kInfo, "pid={} forgets the start codes of {} addresses without a server; the floor is {}", ctx.pid(),
                forgotten.addresses.size(), forgotten.floor);
  }
  return Done{std::string(kRegistered)};
}

}  // namespace ratchet::master
