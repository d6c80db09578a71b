// AdminService: orders of masters and requests of operators to this server (docs/wire-compatibility.md).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/model/proto/admin.pb.h"
#include "common/model/server_name.h"
#include "common/rights/judge.h"
#include "common/rpc/address_probe.h"
#include "common/rpc/connection_methods.h"
#include "common/rpc/pulse.h"
#include "common/rpc/service.h"

namespace ratchet::regionserver {

namespace pb = ::hbase::pb;

class Region;
class SlowLog;

// Functions that the service calls, on handler threads, concurrently. They must be valid for the life of the service's
// calls.
struct AdminServiceParts {
  std::function<ServerName()> self;
  std::function<Status()> admit;  // an error while the server does not serve
  std::function<Status(const pb::ExecuteProceduresRequest&)> take_orders;
  std::function<Result<std::shared_ptr<Region>>(const std::string& encoded_name)> find;
  std::function<std::vector<std::shared_ptr<Region>>()> all;
  std::function<void(const std::string& encoded_name, bool major)> compact_soon;
  std::function<bool(bool on)> switch_compactions;  // returns the previous value
  std::function<Status()> roll_logs;
  std::function<void(const std::string& reason)> stop;
  // Runs work that waits for a disk on separate threads, so that no administrator occupies the handlers of orders and
  // of hbase:meta.
  std::function<void(std::function<void()> work)> run_slowly;
  std::function<std::uint32_t()> info_port{};  // port of this server's page; 0, or empty: no page
  std::shared_ptr<SlowLog> slow_log{};         // null: its methods are not supported
  // Returns whether a compaction of the region runs or waits; empty: always false.
  std::function<bool(const std::string& encoded_name, bool major)> is_compacting{};
  std::function<Status()> reload{};  // UpdateConfiguration; empty: refused
  // Probes another server once. Blocks for a fraction of a second. Empty: ProbeServer says that there is no finding.
  std::function<rpc::ProbeFinding(const ServerName&)> probe{};
  // Sends one pulse to another server, and blocks for up to `patience`. Empty: no finding.
  std::function<rpc::PulseEnd(const ServerName&, Millis patience)> pulse{};
  std::function<rpc::RpcServer*()> rpc_server{};  // of this process, for its connections; empty: none
  const rights::Judge* judge = nullptr;           // for lists that are filtered; null: every caller sees everything
};

// Maximum number of requests that wait for AdminServiceParts::run_slowly or run there; one more is refused with
// CallQueueTooBigException.
inline constexpr int kMostSlowCalls = 32;

[[nodiscard]] std::shared_ptr<const rpc::Service> MakeAdminService(AdminServiceParts parts);

// Returns a size in a region's load, as in HBase: 0 means empty, and input formats skip empty regions. Any other size
// below two megabytes is 1.
[[nodiscard]] std::uint32_t Megabytes(std::uint64_t bytes);
// Fills in the load of one region for masters and operators.
void FillRegionLoad(const Region& region, pb::RegionLoad& out);
// Overload for callers that have the region's full name, because computing the name takes a hash.
void FillRegionLoad(const Region& region, const std::string& name, pb::RegionLoad& out);

}  // namespace ratchet::regionserver
