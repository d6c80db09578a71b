// Metrics that every server process has. Each function adds its families once.
#pragma once

#include <optional>

#include "common/http/http_server.h"
#include "common/metrics/exposition.h"
#include "common/rpc/server.h"
#include "common/zk/zk_session.h"

namespace ratchet::page {

// "ratchet_build_info": identifies the program.
void AddBuild(metrics::MetricsText& text, const std::string& program, const std::string& version);
// Adds the warning that others reach this process without encryption, and the audit log of a process that has one.
void AddSecurity(metrics::MetricsText& text);
// Calls by method, with errors and latency; queues; connections.
void AddRpc(metrics::MetricsText& text, const rpc::RpcServer& server);
// All files of the process: syncs, and the age of the oldest unfinished operation.
void AddStorage(metrics::MetricsText& text);
void AddZooKeeper(metrics::MetricsText& text, zk::SessionState state);
void AddHttp(metrics::MetricsText& text, const http::HttpStats& stats);

}  // namespace ratchet::page
