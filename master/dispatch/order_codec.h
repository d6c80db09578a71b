// Wire format of orders: one ExecuteProcedures request per batch (docs/wire-compatibility.md).
#pragma once

#include "common/base/strong_id.h"
#include "common/model/proto/admin.pb.h"
#include "master/dispatch/dispatch_core.h"

namespace ratchet::master {

// Common fields of all orders of one master.
struct OrderSender {
  Epoch epoch;
  std::int64_t active_since_ms = 0;  // HBase's "initiating master active time"; for display only
};

// Pure. `lowest_live_pid`: the server refuses server-wide orders with a lower pid (S19: executed orders are
// remembered).
[[nodiscard]] hbase::pb::ExecuteProceduresRequest EncodeOrders(const ServerName& server, const OrderBatch& batch,
                                                               const OrderSender& sender, ProcId lowest_live_pid,
                                                               std::int64_t wall_millis);

// Returns one line for the log, such as "open 56f9... pid=12, close ...".
[[nodiscard]] std::string DescribeOrder(const Order& order);

}  // namespace ratchet::master
