// How answers to orders reach the active master. The real one (server/master_link.h) follows ZooKeeper's master node;
// tests use a double.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "common/base/result.h"
#include "regionserver/orders/order_ledger.h"

namespace ratchet::regionserver {

// What the master made of a report.
struct ReportVerdict {
  Epoch epoch;                           // of the master that answered; invalid when it did not say
  bool stale = false;                    // refused: no procedure waits for this (pid, epoch, attempt)
  std::optional<OrderAddress> expected;  // what the master waits for instead, when it waits for this order at all
};

// Each call returns at once; `done` comes exactly once, on any thread, possibly before the call returns. An error means
// that it is unknown whether the report was taken: send it again.
class MasterPort {
 public:
  virtual ~MasterPort() = default;
  // A region's order: ReportRegionStateTransition.
  virtual void ReportTransition(const OrderReport& report, std::function<void(Result<ReportVerdict>)> done) = 0;
  // Server-wide orders: ReportProcedureDone, all in one call.
  virtual void ReportProceduresDone(const std::vector<OrderReport>& reports, std::function<void(Status)> done) = 0;
};

}  // namespace ratchet::regionserver
