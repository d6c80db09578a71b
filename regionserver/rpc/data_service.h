// ClientService: Get, Mutate, Multi and Scan, with HBase's semantics (docs/wire-compatibility.md).
//
// Every reply that depends on a region's data passes the region's CHECK after evaluation (S24: visible after sync).
// Durability is always SYNC: writes with ASYNC_WAL or SKIP_WAL are synced too.
// Handlers run on the RPC library's threads; answers to mutations come from the log's thread.
#pragma once

#include <memory>

#include "common/rpc/service.h"
#include "regionserver/rpc/data_service_parts.h"

namespace ratchet::regionserver {

// All objects that `parts` refers to must outlive the service and every call.
[[nodiscard]] std::shared_ptr<const rpc::Service> MakeDataService(DataServiceParts parts);

}  // namespace ratchet::regionserver
