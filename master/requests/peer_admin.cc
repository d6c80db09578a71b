#include "master/requests/peer_admin.h"

#include <utility>

#include "common/model/replication_peer.h"
#include "master/cluster/errors.h"
#include "master/cluster/peer_directory.h"
#include "master/cluster/switches.h"
#include "master/procedures/core/master_env.h"
#include "master/procedures/replication/peer_procedures.h"
#include "master/requests/submit_asked.h"

namespace ratchet::master {
namespace {

ProcedurePtr MakePeerProcedure(PeerChange change, pb::PeerData data) {
  switch (change) {
    case PeerChange::kAdd: return AddPeer::Make(std::move(data));
    case PeerChange::kRemove: return RemovePeer::Make(std::move(data));
    case PeerChange::kEnable: return EnablePeer::Make(std::move(data));
    case PeerChange::kDisable: return DisablePeer::Make(std::move(data));
    case PeerChange::kUpdate: break;
  }
  return UpdatePeerConfig::Make(std::move(data));
}

void SubmitChange(MasterEnv& env, PeerChange change, pb::PeerData data, RequestContext context, PeerAdmin::Done done) {
  if (Status sound = CheckPeerData(change, data); !sound.ok()) return done(sound.error());
  auto check = [&env, change, data]() -> Status {
    if (!env.switches.IsOn(Switch::kPeerModification)) return IllegalRequest("Replication peer modification disabled");
    return CheckPeerChange(env, change, data);
  };
  SubmitAsked(env, MakePeerProcedure(change, std::move(data)), std::move(context), std::move(check), std::move(done),
              /*without_meta=*/true);
}

}  // namespace

void PeerAdmin::Add(const std::string& id, hbase::pb::ReplicationPeer config, bool enabled, RequestContext context,
                    Done done) {
  NormalizePeerConfig(config);
  pb::PeerData data;
  data.set_peer(id);
  data.set_config(config.SerializeAsString());
  data.set_enabled(enabled);
  SubmitChange(env_, PeerChange::kAdd, std::move(data), std::move(context), std::move(done));
}

void PeerAdmin::Update(const std::string& id, hbase::pb::ReplicationPeer config, RequestContext context, Done done) {
  NormalizePeerConfig(config);
  pb::PeerData data;
  data.set_peer(id);
  data.set_config(config.SerializeAsString());
  SubmitChange(env_, PeerChange::kUpdate, std::move(data), std::move(context), std::move(done));
}

void PeerAdmin::Change(PeerChange change, const std::string& id, RequestContext context, Done done) {
  pb::PeerData data;
  data.set_peer(id);
  SubmitChange(env_, change, std::move(data), std::move(context), std::move(done));
}

}  // namespace ratchet::master
