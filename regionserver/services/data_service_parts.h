// What the methods of ClientService need of the server.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "common/base/clock.h"
#include "common/base/live.h"
#include "common/base/result.h"
#include "regionserver/orders/epoch_guard.h"
#include "regionserver/services/scanner_table.h"

namespace ratchet::regionserver {

class AheadBudget;
class Region;
class Throttles;

// Where the services find regions; the server's host of regions, or a test's.
using RegionFinder = std::function<Result<std::shared_ptr<Region>>(const std::string& encoded_name)>;

struct DataServiceParts {
  RegionFinder find;
  std::function<Status()> admit;  // an error while the server does not serve (starting, stopping)
  EpochGuard& epochs;
  ScannerTable& scanners;
  Clock& clock;
  Live<std::uint64_t> max_result_bytes{2u << 20};  // of one scan reply
  std::uint64_t max_multi_bytes = 64u << 20;       // of all results of one Multi
  Throttles* throttles = nullptr;                  // null: nothing is limited
  std::shared_ptr<AheadBudget> ahead{};            // null: scans read nothing ahead
  // S59: of an epoch that is above all seen so far; empty: believed (tests).
  std::function<Status(Epoch)> prove_epoch{};
};

}  // namespace ratchet::regionserver
