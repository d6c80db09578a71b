#include "chaos/cluster/cluster_view.h"

#include <set>

#include "common/rpc/channel_pool.h"
#include "common/rpc/methods/ratchet_service.h"
#include "common/tls/process_tls.h"
#include "common/zk/master_election.h"

namespace ratchet::chaos {
namespace {

constexpr Millis kConnectTimeout{2'000};
constexpr Millis kCallTimeout{2'000};

rpc::ChannelPoolOptions PoolOptions() {
  rpc::ChannelPoolOptions options;
  options.name = "cluster-view";
  options.user = "cluster";
  options.tls = tls::ProcessTls::OfProcess();
  options.connect_timeout = Millis(1'000);
  options.reconnect_cap = Millis(50);
  return options;
}

}  // namespace

struct ClusterView::Impl {
  std::string zookeeper;
  std::unique_ptr<zk::ZkSession> session;
  rpc::ChannelPool pool{PoolOptions()};
};

ClusterView::ClusterView(std::string zookeeper) : impl_(std::make_unique<Impl>()) {
  impl_->zookeeper = std::move(zookeeper);
}
ClusterView::~ClusterView() = default;

Result<ServerName> ClusterView::RegisteredMaster() {
  if (impl_->session == nullptr || impl_->session->state() == zk::SessionState::kExpired) {
    RATCHET_ASSIGN(impl_->session, zk::ZkSession::Open({impl_->zookeeper, Millis(10'000)}));
  }
  RATCHET_TRY(impl_->session->WaitConnected(kConnectTimeout));
  RATCHET_ASSIGN(const auto node, zk::ReadMaster(*impl_->session, zk::ZkPaths{}));
  return node.server;
}

Result<pb::GetStatusResponse> ClusterView::StatusAt(std::uint16_t port) {
  rpc::CallOptions options;
  options.timeout = kCallTimeout;
  RATCHET_ASSIGN(auto reply,
                 impl_->pool.CallSync(methods::kGetStatus, {"127.0.0.1", port}, pb::GetStatusRequest(), options));
  return std::move(reply.message);
}

Result<TransitionWatch::Transitions> ClusterView::TransitionsAt(std::uint16_t port) {
  rpc::CallOptions options;
  options.timeout = kCallTimeout;
  pb::ListRegionsRequest request;
  request.set_in_transition_only(true);
  RATCHET_ASSIGN(const auto reply, impl_->pool.CallSync(methods::kListRegions, {"127.0.0.1", port}, request, options));
  TransitionWatch::Transitions transitions;
  for (const auto& region : reply.message.region()) transitions.emplace(region.encoded_name(), region.procedure());
  return transitions;
}

Status CheckServing(const pb::GetStatusResponse& status, const std::vector<ProcessInfo>& processes,
                    bool none_in_transition) {
  const auto wrong = [](std::string what) { return Error(Code::kUnavailable, std::move(what)); };
  if (status.role() != pb::GetStatusResponse::ACTIVE) return wrong("the master is still starting");
  if (status.meta_state() != "OPEN") return wrong("meta is " + status.meta_state());
  if (status.dead_server_size() > 0)
    return wrong(fmt::format("{} crashes are being handled", status.dead_server_size()));
  if (none_in_transition && status.regions_in_transition() > 0)
    return wrong(fmt::format("{} regions in transition", status.regions_in_transition()));
  std::set<std::uint16_t> live;
  std::set<std::string> names;
  for (const auto& server : status.live_server()) {
    live.insert(static_cast<std::uint16_t>(server.port()));
    names.insert(fmt::format("{},{},{}", server.host_name(), server.port(), server.start_code()));
  }
  for (const auto& info : processes) {
    if (info.role != Role::kRegionServer || info.paused) continue;
    const bool runs = info.id.pid != 0;
    // Compare by name: after a quick restart the master may still count the previous incarnation, which had the same
    // port.
    if (runs && !names.contains(info.serving_as)) return wrong(info.name + " has not reported");
    if (!runs && live.contains(info.port)) return wrong(info.name + " has ended but is still counted as alive");
  }
  return Ok();
}

}  // namespace ratchet::chaos
