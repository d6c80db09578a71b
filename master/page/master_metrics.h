// Metrics of a master on /metrics, copied from the parts' counters. docs/metrics.md lists them.
//
// Cost: visits each region and procedure in memory once, without copies; reads no file and calls no other process.
// Works at any time: a standby shows the metrics that it has.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "common/http/http_server.h"
#include "common/rpc/server.h"
#include "common/zk/zk_session.h"
#include "master/page/recovery_book.h"
#include "master/rpc/master_services.h"

namespace ratchet::master {

// Returns "standby", "activating", "active" or "stopping".
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
