// ClientService: Get, Mutate, Multi and Scan, with HBase's semantics (docs/wire-compatibility.md).
//
// Every reply that depends on a region's data passes the region's CHECK after evaluation (rule S24). Durability
// is always SYNC: what clients ask for as ASYNC_WAL or SKIP_WAL is synced too.
// Handlers run on the RPC library's threads; answers to mutations come from the log's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/rpc/service.h"
#include "regionserver/orders/epoch_guard.h"
#include "regionserver/services/scanner_table.h"

namespace ratchet::regionserver {

class Region;

// Where the services find regions; the server's host of regions, or a test's.
using RegionFinder = std::function<Result<std::shared_ptr<Region>>(const std::string& encoded_name)>;

struct DataServiceParts {
  RegionFinder find;
  std::function<Status()> admit;  // an error while the server does not serve (starting, stopping)
  EpochGuard& epochs;
  ScannerTable& scanners;
  Clock& clock;
  std::uint64_t max_result_bytes = 2u << 20;  // of one scan reply
  std::uint64_t max_multi_bytes = 64u << 20;  // of all results of one Multi
  // S59: of an epoch that is above all seen so far; empty: believed (tests).
  std::function<Status(Epoch)> prove_epoch{};
};

// What `parts` refers to must outlive the service and every call.
[[nodiscard]] std::shared_ptr<const rpc::Service> MakeDataService(DataServiceParts parts);

}  // namespace ratchet::regionserver
