// The server's parts that ClientService's methods use.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "common/base/clock.h"
#include "common/base/live.h"
#include "common/base/result.h"
#include "regionserver/orders/epoch_guard.h"
#include "regionserver/rpc/scanner_table.h"

namespace ratchet::regionserver {

class AheadBudget;
class Region;
class Throttles;

// Finds a region: in the server's region host, or in a test's.
using RegionFinder = std::function<Result<std::shared_ptr<Region>>(const std::string& encoded_name)>;

struct DataServiceParts {
  RegionFinder find;
  std::function<Status()> admit;  // an error while the server does not serve (starting, stopping)
  EpochGuard& epochs;
  ScannerTable& scanners;
  Clock& clock;
  Live<std::uint64_t> max_result_bytes{2u << 20};  // limit of one scan reply
  std::uint64_t max_multi_bytes = 64u << 20;       // limit of all results of one Multi
  Throttles* throttles = nullptr;                  // null: no limits
  std::shared_ptr<AheadBudget> ahead{};            // null: no read-ahead
  // S59 (epoch proven by a claim): proves an epoch above all seen so far; empty: no proof needed (tests).
  std::function<Status(Epoch)> prove_epoch{};
  // mutations that have passed this cluster are refused (S112: no replication loops); empty: unknown (tests)
  std::string cluster_id{};
};

}  // namespace ratchet::regionserver
