// ClientMetaService on a region server: lets clients without ZooKeeper find the cluster (docs/wire-compatibility.md).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/model/proto/registry.pb.h"
#include "common/model/server_name.h"
#include "common/rpc/service.h"

namespace ratchet::regionserver {

namespace pb = ::hbase::pb;

// Sources of the service's answers. All are called on handler threads, concurrently.
struct ClientMetaSources {
  std::string cluster_id;
  std::function<ServerName()> self;
  std::function<Status()> admit;  // an error while the server does not serve
  std::function<std::optional<ServerName>()> active_master;
  std::function<std::vector<ServerName>()> backup_masters;  // may block
  // Asks the active master; `done` on any thread.
  std::function<void(std::function<void(Result<pb::GetMetaRegionLocationsResponse>)> done)> meta_locations;
  Millis location_cache{500};  // how long an answer about meta is reused
};

// `clock` must outlive the service.
[[nodiscard]] std::shared_ptr<const rpc::Service> MakeClientMetaService(Clock& clock, ClientMetaSources sources);

}  // namespace ratchet::regionserver
