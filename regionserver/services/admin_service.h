// AdminService: what masters order and operators ask of this server (docs/wire-compatibility.md).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/model/proto/admin.pb.h"
#include "common/model/server_name.h"
#include "common/rpc/service.h"

namespace ratchet::regionserver {

namespace pb = ::hbase::pb;

class Region;
class SlowLog;

// What the service asks others for; called on handler threads, concurrently. Everything must outlive the service's
// calls.
struct AdminServiceParts {
  std::function<ServerName()> self;
  std::function<Status()> admit;  // an error while the server does not serve
  std::function<Status(const pb::ExecuteProceduresRequest&)> take_orders;
  std::function<Result<std::shared_ptr<Region>>(const std::string& encoded_name)> find;
  std::function<std::vector<std::shared_ptr<Region>>()> all;
  std::function<void(const std::string& encoded_name, bool major)> compact_soon;
  std::function<bool(bool on)> switch_compactions;  // returns what it was
  std::function<Status()> roll_logs;
  std::function<void(const std::string& reason)> stop;
  // Runs what waits for a disk on a thread of its own kind: no administrator occupies the handlers of orders and of
  // hbase:meta.
  std::function<void(std::function<void()> work)> run_slowly;
  std::function<std::uint32_t()> info_port{};  // of this server's page; 0, or none: it has no page
  std::shared_ptr<SlowLog> slow_log{};         // null: its methods are not offered
  // A compaction of the region goes on or waits; empty: none ever does.
  std::function<bool(const std::string& encoded_name, bool major)> is_compacting{};
  std::function<Status()> reload{};  // UpdateConfiguration; empty: refused
};

// Requests that wait for their turn or are being done by `run_slowly`; one more is refused with
// CallQueueTooBigException.
inline constexpr int kMostSlowCalls = 32;

[[nodiscard]] std::shared_ptr<const rpc::Service> MakeAdminService(AdminServiceParts parts);

// The load of one region as masters and operators see it.
void FillRegionLoad(const Region& region, pb::RegionLoad& out);
// The same with the region's full name, which is a hash, at hand.
void FillRegionLoad(const Region& region, const std::string& name, pb::RegionLoad& out);

}  // namespace ratchet::regionserver
