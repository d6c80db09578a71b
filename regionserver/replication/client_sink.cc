#include "regionserver/replication/client_sink.h"

#include <utility>

#include "common/base/mutex.h"
#include "common/client/admin.h"
#include "common/client/table.h"
#include "common/rpc/methods/client_meta_service.h"
#include "regionserver/replication/kept_connection.h"

namespace ratchet::regionserver {
namespace {

class ClientSink final : public PeerSink {
 public:
  ClientSink(ClusterKey key, Millis timeout)
      : connection_(std::move(key), timeout, "the peer was removed, or this server stops") {}

  Result<std::string> ClusterId() override {
    {
      const MutexLock lock(mutex_);
      if (!cluster_id_.empty()) return cluster_id_;
    }
    RATCHET_ASSIGN(client::Connection* const connection, connection_.Get());
    client::Admin admin(*connection, connection_.timeout());
    RATCHET_ASSIGN(const auto answer, (admin.Call(methods::kGetClusterId, {})));
    if (answer.cluster_id().empty()) return Error(Code::kUnavailable, "the peer does not say its cluster id");
    const MutexLock lock(mutex_);
    cluster_id_ = answer.cluster_id();
    return cluster_id_;
  }

  Status Ship(const Shipment& shipment) override {
    RATCHET_ASSIGN(client::Connection* const connection, connection_.Get());
    client::Table table(*connection, shipment.table, connection_.timeout());
    for (const Status& each : table.MutateMany(shipment.mutations)) RATCHET_TRY(each);
    return Ok();
  }

  void Close() override { connection_.Close(); }

 private:
  KeptConnection connection_;
  Mutex mutex_;
  std::string cluster_id_ GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<PeerSink> MakeClientSink(ClusterKey key, Millis timeout) {
  return std::make_unique<ClientSink>(std::move(key), timeout);
}

}  // namespace ratchet::regionserver
