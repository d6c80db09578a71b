// ClientService: Get, Mutate, Multi and Scan, with HBase's semantics (docs/wire-compatibility.md).
//
// Every reply that depends on a region's data passes the region's CHECK after evaluation (rule S24). Durability
// is always SYNC: what clients ask for as ASYNC_WAL or SKIP_WAL is synced too.
// Handlers run on the RPC library's threads; answers to mutations come from the log's thread.
#pragma once

#include <memory>

#include "common/rpc/service.h"
#include "regionserver/services/data_service_parts.h"

namespace ratchet::regionserver {

// What `parts` refers to must outlive the service and every call.
[[nodiscard]] std::shared_ptr<const rpc::Service> MakeDataService(DataServiceParts parts);

}  // namespace ratchet::regionserver
