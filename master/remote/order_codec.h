// Orders as they travel: one ExecuteProcedures request per batch (docs/wire-compatibility.md).
#pragma once

#include "common/base/strong_id.h"
#include "common/model/proto/admin.pb.h"
#include "master/remote/dispatch_core.h"

namespace ratchet::master {

// What every order of one master has in common.
struct OrderSender {
  Epoch epoch;
  std::int64_t active_since_ms = 0;  // HBase's "initiating master active time"; shown, never decides
};

// Pure. `lowest_live_pid`: server-wide orders below it are refused by the server (S19).
[[nodiscard]] hbase::pb::ExecuteProceduresRequest EncodeOrders(const ServerName& server, const OrderBatch& batch,
                                                               const OrderSender& sender, ProcId lowest_live_pid,
                                                               std::int64_t wall_millis);

// One line for the log: "open 56f9... pid=12, close ...".
[[nodiscard]] std::string DescribeOrder(const Order& order);

}  // namespace ratchet::master
