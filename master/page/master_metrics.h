// What a master exposes on /metrics: from the parts' own counters, as copies. docs/metrics.md lists all of it.
//
// Cost: one look at each region and each procedure in memory, without a copy of any; no file and no other process is
// asked. Works at any time: a standby shows what it has.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "common/http/http_server.h"
#include "common/rpc/server.h"
#include "common/zk/zk_session.h"
#include "master/page/recovery_book.h"
#include "master/service/master_services.h"

namespace ratchet::master {

// "standby", "activating", "active", "stopping"
[[nodiscard]] std::string_view RoleName(MasterRole role);

struct MasterMetricsSources {
  const ServiceEnv& env;
  const rpc::RpcServer& rpc;
  const RecoveryBook& recoveries;
  std::function<zk::SessionState()> zookeeper;
  std::function<http::HttpStats()> page;
};

// Any thread; from the start of the RPC server to its stop.
[[nodiscard]] std::string MasterMetrics(const MasterMetricsSources& sources);

}  // namespace ratchet::master
