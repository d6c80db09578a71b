// Converts a master's ExecuteProcedures request into orders for the queue. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/model/proto/admin.pb.h"
#include "common/model/proto/replication.pb.h"
#include "common/model/proto/snapshot.pb.h"
#include "common/model/server_name.h"
#include "common/rights/rights_image.h"
#include "regionserver/orders/order_queue.h"

namespace ratchet::regionserver {

namespace pb = ::hbase::pb;

struct OpenOrder {
  ProcId pid;
  std::string encoded_name;
  pb::RegionInfo region;
  // S21 (numbered openings): the number of this opening, from the procedure's durable data
  std::uint64_t open_number = 0;
  bool opened_before = false;       // S53 (opening starts with full state)
  std::uint64_t build_number = 0;   // S38 (no empty opening over data)
  std::uint64_t schema_number = 0;  // S48 (schema pinned in the order); 0: the master names none
  std::uint64_t issued = 0;         // S118 (older copy stays closed); 0: the master does not know
  std::uint64_t served = 0;         // S118, like `issued`
  std::uint64_t flushed = 0;        // S118, like `issued`
  std::string table_dir;            // below <root>/data
  pb::TableSchema schema;
};

struct CloseOrder {
  ProcId pid;
  std::string encoded_name;
  pb::RegionInfo region;  // as far as the order names it (a close carries no end key)
  // the server that opens the region next, if the master named it: clients are redirected there
  std::optional<ServerName> destination;
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

struct TakeRightsOrder {
  ProcId pid;
  std::shared_ptr<const rights::RightsImage> image;
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

// Executes orders. Implemented by the server, called on lanes' threads.
class OrderExecutor {
 public:
  virtual ~OrderExecutor() = default;
  virtual OrderAnswer Open(const OpenOrder& order) = 0;
  // Opens the region together with others (S133: shared syncs): takes the order and returns, and calls `done` once, on
  // any thread. Not for hbase:meta, which waits for no other region.
  virtual void OpenWithOthers(std::shared_ptr<const OpenOrder> order, std::function<void(OrderAnswer)> done) {
    done(Open(*order));
  }
  // Returns nullopt when the region cannot be closed. The process then ends, so that its log brings the rows to the
  // next opening.
  virtual std::optional<OrderAnswer> Close(const CloseOrder& order) = 0;
  virtual OrderAnswer SplitLog(const SplitLogOrder& order) = 0;
  virtual OrderAnswer Flush(const FlushOrder& order) = 0;
  virtual OrderAnswer Compact(const CompactOrder& order) = 0;
  virtual OrderAnswer Build(const BuildOrder& order) = 0;
  virtual OrderAnswer Copy(const CopyOrder& order) = 0;
  virtual OrderAnswer RefreshPeers(const RefreshPeersOrder& order) = 0;
  virtual OrderAnswer TakeRights(const TakeRightsOrder& order) = 0;
};

// Class names of RemoteProcedureRequest that this server executes.
inline constexpr const char* kSplitLogClass = "org.apache.hadoop.hbase.regionserver.SplitWALCallable";
inline constexpr const char* kFlushRegionClass = "org.apache.hadoop.hbase.regionserver.FlushRegionCallable";
inline constexpr const char* kRefreshPeerClass = "org.apache.hadoop.hbase.replication.regionserver.RefreshPeerCallable";
inline constexpr const char* kBuildRegionsClass = "ratchet.BuildRegions";
inline constexpr const char* kCopyRegionClass = "ratchet.CopyRegion";
inline constexpr const char* kCompactRegionClass = "ratchet.CompactRegion";
inline constexpr const char* kTakeRightsClass = "ratchet.TakeRights";

struct OrderBatch {
  Epoch epoch;
  ProcId lowest_live;
  std::vector<Order> orders;
};

// Orders whose start code differs from `own_start_code` are for another run of this server and are refused (kStale).
// kInvalidArgument when an order lacks a field; then the whole request is refused. An unknown procedure class is not an
// error here: its order's answer is kFailed. `executor` must outlive the orders.
[[nodiscard]] Result<OrderBatch> DecodeOrders(const pb::ExecuteProceduresRequest& request, std::uint64_t own_start_code,
                                              OrderExecutor& executor);

// Makes an answer that gives the reason of a failure.
[[nodiscard]] OrderAnswer FailedAnswer(OrderOutcome outcome, const Error& error);

}  // namespace ratchet::regionserver
