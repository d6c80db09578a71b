// From a master's ExecuteProcedures request to orders for the queue. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/model/proto/admin.pb.h"
#include "common/model/proto/replication.pb.h"
#include "common/model/proto/snapshot.pb.h"
#include "common/model/server_name.h"
#include "regionserver/orders/order_queue.h"

namespace ratchet::regionserver {

namespace pb = ::hbase::pb;

struct OpenOrder {
  ProcId pid;
  std::string encoded_name;
  pb::RegionInfo region;
  std::uint64_t open_seq = 0;    // S21: the number of this opening, from the procedure's durable data
  std::uint64_t transition = 0;  // S28
  bool opened_before = false;    // S53
  std::uint64_t born = 0;        // S38
  std::uint64_t descriptor = 0;  // S48; 0: the master names none
  std::string table_dir;         // below <root>/data
  pb::TableSchema schema;
};

struct CloseOrder {
  ProcId pid;
  std::string encoded_name;
  pb::RegionInfo region;                  // as far as the order names it (a close carries no end key)
  std::optional<ServerName> destination;  // where it goes next, if the master has said so: clients are sent there
};

struct SplitLogOrder {
  ProcId pid;
  std::uint32_t attempt = 0;
  pb::SplitWALParameter parameter;
};

struct BuildOrder {
  ProcId pid;  // the build's number
  pb::BuildRegionsParameter parameter;
};

struct CopyOrder {
  ProcId pid;  // the copy's number
  pb::CopyRegionParameter parameter;
};

struct RefreshPeersOrder {
  ProcId pid;
  pb::PeerList list;
};

struct FlushOrder {
  ProcId pid;
  std::string encoded_name;
};

struct CompactOrder {
  ProcId pid;
  std::string encoded_name;
  bool major = false;
};

// What the orders do. Implemented by the server, called on lanes' threads.
class OrderExecutor {
 public:
  virtual ~OrderExecutor() = default;
  virtual OrderAnswer Open(const OpenOrder& order) = 0;
  // Nothing: the region cannot be closed, and the process ends so that its log brings the rows to the next opening.
  virtual std::optional<OrderAnswer> Close(const CloseOrder& order) = 0;
  virtual OrderAnswer SplitLog(const SplitLogOrder& order) = 0;
  virtual OrderAnswer Flush(const FlushOrder& order) = 0;
  virtual OrderAnswer Compact(const CompactOrder& order) = 0;
  virtual OrderAnswer Build(const BuildOrder& order) = 0;
  virtual OrderAnswer Copy(const CopyOrder& order) = 0;
  virtual OrderAnswer RefreshPeers(const RefreshPeersOrder& order) = 0;
};

// Class names of RemoteProcedureRequest that this server executes.
inline constexpr const char* kSplitLogClass = "org.apache.hadoop.hbase.regionserver.SplitWALCallable";
inline constexpr const char* kFlushRegionClass = "org.apache.hadoop.hbase.regionserver.FlushRegionCallable";
inline constexpr const char* kRefreshPeerClass = "org.apache.hadoop.hbase.replication.regionserver.RefreshPeerCallable";
inline constexpr const char* kBuildRegionsClass = "ratchet.BuildRegions";
inline constexpr const char* kCopyRegionClass = "ratchet.CopyRegion";
inline constexpr const char* kCompactRegionClass = "ratchet.CompactRegion";

struct OrderBatch {
  Epoch epoch;
  ProcId lowest_live;
  std::vector<Order> orders;
};

// `own_start_code`: orders for another run of this server are refused (kStale). kInvalidArgument when something is
// missing that an order needs; then nothing of the request is taken. An unknown procedure class is no error: its
// order's answer is kFailed. `executor` must outlive the orders.
[[nodiscard]] Result<OrderBatch> DecodeOrders(const pb::ExecuteProceduresRequest& request, std::uint64_t own_start_code,
                                              OrderExecutor& executor);

// An answer that says why something failed.
[[nodiscard]] OrderAnswer FailedAnswer(OrderOutcome outcome, const Error& error);

}  // namespace ratchet::regionserver
