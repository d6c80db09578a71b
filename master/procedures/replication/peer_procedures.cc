#include "master/procedures/replication/peer_procedures.h"

#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/model/peer_secrets.h"
#include "common/model/replication_peer.h"
#include "master/cluster/errors.h"
#include "master/cluster/membership.h"
#include "master/cluster/peer_directory.h"
#include "procedure/api/executor.h"

namespace ratchet::master {
namespace {

using PeerConfig = hbase::pb::ReplicationPeer;

bool HasConfig(PeerChange change) { return change == PeerChange::kAdd || change == PeerChange::kUpdate; }

// CheckInitial has parsed it before. An exception parks the procedure (S79: invalid record is parked).
PeerConfig ConfigOf(const pb::PeerData& data) {
  PeerConfig config;
  if (!config.ParseFromString(data.config())) throw std::invalid_argument("invalid configuration of a peer");
  return config;
}

Status CheckAddition(const MasterEnv& env, const pb::PeerData& data) {
  RATCHET_TRY(CheckHiddenValues(PeerConfig(), ConfigOf(data)));
  if (env.peers.Get(data.peer())) return IllegalRequest(fmt::format("Replication peer {} already exists", data.peer()));
  if (env.peers.size() < kMostPeers) return Ok();
  return IllegalRequest(fmt::format("limit of {} replication peers reached: remove one first", env.peers.size()));
}

}  // namespace

std::string PeerRecordKey(const pb::PeerData& data) { return std::string(kPeerRecordPrefix) + data.peer(); }

std::optional<std::string> PeerRecordNow(StepContext& ctx, const std::string& key) {
  return EnvOf(ctx).executor->SystemRecord(key);
}

Status CheckPeerData(PeerChange change, const pb::PeerData& data) {
  RATCHET_TRY(CheckPeerId(data.peer()));
  if (!HasConfig(change)) return Ok();
  PeerConfig config;
  if (!config.ParseFromString(data.config())) return IllegalRequest("the peer's configuration cannot be read");
  return Ok();
}

Status CheckPeerSettings(PeerChange change, const pb::PeerData& data) {
  return HasConfig(change) ? CheckPeerConfig(ConfigOf(data)) : Ok();
}

Status CheckPeerChange(const MasterEnv& env, PeerChange change, const pb::PeerData& data) {
  if (change == PeerChange::kAdd) return CheckAddition(env, data);
  const auto present = env.peers.Get(data.peer());
  if (!present) return PeerNotFound(data.peer());
  switch (change) {
    case PeerChange::kEnable:
      if (IsEnabled(present->state()))
        return IllegalRequest(fmt::format("Replication peer {} has already been enabled", data.peer()));
      return Ok();
    case PeerChange::kDisable:
      if (!IsEnabled(present->state()))
        return IllegalRequest(fmt::format("Replication peer {} has already been disabled", data.peer()));
      return Ok();
    case PeerChange::kUpdate: return CheckPeerUpdate(data.peer(), present->config(), ConfigOf(data));
    case PeerChange::kAdd:
    case PeerChange::kRemove: break;
  }
  return Ok();
}

std::optional<std::string> PeerRecord(PeerChange change, const pb::PeerData& data,
                                      const std::optional<std::string>& present) {
  if (change == PeerChange::kRemove) return std::nullopt;
  PeerDirectory::Peer peer;
  // A peer that was removed meanwhile, after an operator's bypass, is not recreated.
  if (change != PeerChange::kAdd && (!present || !peer.ParseFromString(*present))) return std::nullopt;
  peer.set_id(data.peer());
  if (HasConfig(change)) {
    PeerConfig config = ConfigOf(data);
    if (change == PeerChange::kUpdate) FillInSecrets(peer.config(), config);
    *peer.mutable_config() = std::move(config);
  }
  if (change == PeerChange::kAdd) *peer.mutable_state() = PeerState(data.enabled());
  if (change == PeerChange::kEnable) *peer.mutable_state() = PeerState(true);
  if (change == PeerChange::kDisable) *peer.mutable_state() = PeerState(false);
  return peer.SerializeAsString();
}

void ShowPeer(StepContext& ctx, const pb::PeerData& data) {
  EnvOf(ctx).peers.Show(data.peer(), PeerRecordNow(ctx, PeerRecordKey(data)));
}

// Runs after Show: a server that is not among these gets the new list with its first heartbeat.
std::vector<ProcedurePtr> RefreshEverywhere(StepContext& ctx, pb::PeerData& data) {
  std::vector<ProcedurePtr> orders;
  for (const ServerName& server : EnvOf(ctx).servers.Online())
    orders.push_back(RefreshPeer::Make(data.peer(), server.ToString()));
  data.set_refreshed(static_cast<std::uint32_t>(orders.size()));
  return orders;
}

void LogPeerChange(StepContext& ctx, std::string_view type, const pb::PeerData& data) {
  RATCHET_LOG(kInfo, "pid={} {} of replication peer {} is done, {} region servers notified", ctx.pid(), type,
              data.peer(), data.refreshed());
}

// ---- RefreshPeer ----------------------------------------------------------------------------------------------------

ProcedurePtr RefreshPeer::Make(const std::string& peer, const std::string& server) {
  pb::RefreshPeerData data;
  data.set_peer(peer);
  data.set_server(server);
  data.set_attempt(1);
  return std::make_unique<RefreshPeer>(std::move(data));
}

procedure::Description RefreshPeer::Describe() const {
  return procedure::Description().Add("peer", data_.peer()).Add("server", data_.server());
}

Acted<Result<RefreshPeersOrder>> RefreshPeer::MakeOrder(StepContext& ctx) const {
  RefreshPeersOrder order;
  order.list = EnvOf(ctx).peers.ListFor(ServerFromData(data_.server()), ctx.epoch()).SerializeAsString();
  return Ready(std::move(order));
}

// A server of an earlier version does not replicate, and does not know the order.
void RefreshPeer::Log(StepContext& ctx, std::string_view /*event*/) const {
  if (!data_.has_answer() || data_.answer().outcome() == pb::DONE) return;
  RATCHET_LOG(kWarn, "pid={} {} does not accept replication peers: {}", ctx.pid(), data_.server(),
              data_.answer().error_message());
}

}  // namespace ratchet::master
