#include "regionserver/rpc/client_meta_service.h"

#include <utility>

#include "common/base/mutex.h"
#include "common/model/codec.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/client_meta_service.h"

namespace ratchet::regionserver {
namespace {

// Shared by the handlers and by pending answers.
class MetaQuestions : public std::enable_shared_from_this<MetaQuestions> {
 public:
  MetaQuestions(Clock& clock, ClientMetaSources sources) : clock_(clock), sources_(std::move(sources)) {}

  pb::GetClusterIdResponse ClusterId() const {
    pb::GetClusterIdResponse response;
    response.set_cluster_id(sources_.cluster_id);
    return response;
  }

  Result<pb::GetActiveMasterResponse> ActiveMaster() const {
    const auto master = sources_.active_master();
    if (!master.has_value()) return rpc::RemoteError(rpc::exception::kMasterNotRunning, "no master is active");
    pb::GetActiveMasterResponse response;
    ToProto(*master, *response.mutable_server_name());
    return response;
  }

  pb::GetMastersResponse Masters() const {
    pb::GetMastersResponse response;
    const auto add = [&response](const ServerName& server, bool active) {
      auto* entry = response.add_master_servers();
      ToProto(server, *entry->mutable_server_name());
      entry->set_is_active(active);
    };
    if (const auto master = sources_.active_master(); master.has_value()) add(*master, true);
    for (const ServerName& server : sources_.backup_masters()) add(server, false);
    return response;
  }

  Result<pb::GetBootstrapNodesResponse> BootstrapNodes() const {
    RATCHET_TRY(sources_.admit());
    pb::GetBootstrapNodesResponse response;
    ToProto(sources_.self(), *response.add_server_name());
    return response;
  }

  void MetaLocations(const rpc::Responder<pb::GetMetaRegionLocationsResponse>& responder) {
    if (auto cached = Cached(); cached.has_value()) {
      responder.Reply(*cached);
      return;
    }
    sources_.meta_locations([self = shared_from_this(), responder](Result<pb::GetMetaRegionLocationsResponse> answer) {
      if (answer.ok()) self->Keep(*answer);
      responder.ReplyOrFail(answer);
    });
  }

 private:
  std::optional<pb::GetMetaRegionLocationsResponse> Cached() {
    MutexLock lock(mutex_);
    if (!known_.has_value() || clock_.Now() - known_since_ > sources_.location_cache) return std::nullopt;
    return known_;
  }
  void Keep(const pb::GetMetaRegionLocationsResponse& answer) {
    if (answer.meta_locations().empty()) return;
    MutexLock lock(mutex_);
    known_ = answer;
    known_since_ = clock_.Now();
  }

  Clock& clock_;
  const ClientMetaSources sources_;
  Mutex mutex_;
  std::optional<pb::GetMetaRegionLocationsResponse> known_ GUARDED_BY(mutex_);
  TimePoint known_since_ GUARDED_BY(mutex_);
};

}  // namespace

std::shared_ptr<const rpc::Service> MakeClientMetaService(Clock& clock, ClientMetaSources sources) {
  auto questions = std::make_shared<MetaQuestions>(clock, std::move(sources));
  auto service = std::make_shared<rpc::Service>(methods::kClientMetaService);
  const rpc::MethodOptions options{rpc::QueueClass::kMeta};
  using Context = rpc::CallContext;
  service->On(
      methods::kGetClusterId,
      [questions](const Context&, const auto&, std::string_view, auto responder) {
        responder.Reply(questions->ClusterId());
      },
      options);
  service->On(
      methods::kGetActiveMaster,
      [questions](const Context&, const auto&, std::string_view, auto responder) {
        responder.ReplyOrFail(questions->ActiveMaster());
      },
      options);
  service->On(
      methods::kGetMasters,
      [questions](const Context&, const auto&, std::string_view, auto responder) {
        responder.Reply(questions->Masters());
      },
      options);
  service->On(
      methods::kGetMetaRegionLocations,
      [questions](const Context&, const auto&, std::string_view, auto responder) {
        questions->MetaLocations(responder);
      },
      options);
  service->On(
      methods::kGetBootstrapNodes,
      [questions](const Context&, const auto&, std::string_view, auto responder) {
        responder.ReplyOrFail(questions->BootstrapNodes());
      },
      options);
  return service;
}

}  // namespace ratchet::regionserver
