// Sends a region server's answers to the master's orders to the active master. The implementation
// (process/master_link.h) follows ZooKeeper's master node; tests use a double.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "common/base/result.h"
#include "regionserver/orders/order_ledger.h"

namespace ratchet::regionserver {

// The master's response to a report.
struct ReportVerdict {
  Epoch epoch;                           // epoch of the master that answered; invalid when the answer has none
  bool stale = false;                    // refused: no procedure waits for this (pid, epoch, attempt)
  std::optional<OrderAddress> expected;  // what the master waits for instead, when it waits for this order at all
};

// Each call returns at once; `done` comes exactly once, on any thread, possibly before the call returns. After an error
// the outcome is unknown: send the report again.
class MasterPort {
 public:
  virtual ~MasterPort() = default;
  // Reports an order of a region: ReportRegionStateTransition.
  virtual void ReportTransition(const OrderReport& report, std::function<void(Result<ReportVerdict>)> done) = 0;
  // Reports server-wide orders: ReportProcedureDone, all in one call.
  virtual void ReportProceduresDone(const std::vector<OrderReport>& reports, std::function<void(Status)> done) = 0;
};

}  // namespace ratchet::regionserver
