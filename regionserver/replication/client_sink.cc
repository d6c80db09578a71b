#include "regionserver/replication/client_sink.h"

#include <utility>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/mutex.h"
#include "common/client/admin.h"
#include "common/client/table.h"
#include "common/rpc/methods/client_meta_service.h"
#include "regionserver/replication/kept_connection.h"

namespace ratchet::regionserver {
namespace {

// A connection reconnects by itself, perhaps to another cluster, because the peer's names may change at any time.
// Mutations that are shipped within this time after the last check of the id are refused by a Ratchet cluster that has
// had them (S112: no replication loops).
constexpr Millis kTrusted{1'000};
constexpr Millis kTrustedWithoutMaster{10'000};

class ClientSink final : public PeerSink {
 public:
  ClientSink(ClusterKey key, Millis timeout)
      : connection_(std::move(key), timeout, "the peer was removed, or this server stops") {}

  Result<std::string> ClusterId() override {
    {
      const MutexLock lock(mutex_);
      if (!cluster_id_.empty() && clock_.Now() < trusted_until_) return cluster_id_;
    }
    RATCHET_ASSIGN(client::Connection* const connection, connection_.Get());
    client::Admin admin(*connection, connection_.timeout());
    const auto answer = admin.Call(methods::kGetClusterId, {});
    const MutexLock lock(mutex_);
    if (!answer.ok() && cluster_id_.empty()) return answer.error();
    if (!answer.ok()) {  // the peer's master does not answer; its region servers may serve
      trusted_until_ = clock_.Now() + kTrustedWithoutMaster;
      return cluster_id_;
    }
    if (answer->cluster_id().empty()) return Error(Code::kUnavailable, "the peer returned no cluster id");
    if (!cluster_id_.empty() && cluster_id_ != answer->cluster_id()) {
      RATCHET_LOG(kWarn, "The address of a replication peer led to cluster {} and leads to cluster {} now", cluster_id_,
                  answer->cluster_id());
    }
    cluster_id_ = answer->cluster_id();
    trusted_until_ = clock_.Now() + kTrusted;
    return cluster_id_;
  }

  Status Ship(const Shipment& shipment) override {
    RATCHET_ASSIGN(client::Connection* const connection, connection_.Get());
    client::Table table(*connection, shipment.table, connection_.timeout());
    for (const Status& each : table.MutateMany(shipment.mutations)) {
      if (each.ok()) continue;
      const MutexLock lock(mutex_);
      trusted_until_ = {};  // the connection may reach another cluster now
      return each;
    }
    return Ok();
  }

  void Reconnect() override {
    connection_.Drop();
    const MutexLock lock(mutex_);
    trusted_until_ = {};
  }

  void Close() override { connection_.Close(); }

 private:
  KeptConnection connection_;
  Mutex mutex_;
  const SystemClock clock_;
  std::string cluster_id_ GUARDED_BY(mutex_);  // as the peer last reported
  TimePoint trusted_until_ GUARDED_BY(mutex_){};
};

}  // namespace

std::unique_ptr<PeerSink> MakeClientSink(ClusterKey key, Millis timeout) {
  return std::make_unique<ClientSink>(std::move(key), timeout);
}

}  // namespace ratchet::regionserver
