// Sends each answer to an order until a master has acknowledged it, without a limit on attempts or failovers (S20:
// answers are repeated).
//
// A report is built when it is sent, never before, so that it carries the newest address. Reports of openings and
// closings that are due while all calls are in flight travel together in the next one. A call has one answer. If the
// master refuses one report of a call, each of them is sent again alone, so that every report gets its own answer.
// Answers of server-wide orders travel in batches, one batch at a time.
//
// Thread-safe. It has no thread: it runs on the thread that calls Kick, on timers and on the port's callbacks.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "common/base/backoff.h"
#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/prng.h"
#include "common/base/result.h"
#include "regionserver/orders/epoch_guard.h"
#include "regionserver/orders/order_ledger.h"
#include "regionserver/orders/order_queue.h"

namespace ratchet::regionserver {

// The master's response to a report.
struct ReportVerdict {
  Epoch epoch;                           // epoch of the master that answered; invalid when the answer has none
  bool stale = false;                    // refused: no procedure waits for this (pid, epoch, attempt)
  std::optional<OrderAddress> expected;  // what the master waits for instead, when it waits for this order at all
};

// Sends a region server's answers to the master's orders to the active master. The implementation
// (process/master_link.h) follows ZooKeeper's master node; tests use a double.
//
// Each call returns at once; `done` comes exactly once, on any thread, possibly before the call returns. After an error
// the outcome is unknown: send the report again.
class MasterPort {
 public:
  virtual ~MasterPort() = default;
  // Reports orders of regions: ReportRegionStateTransition, all in one call. The verdict is that of the first refused
  // one; all are accepted when none is.
  virtual void ReportTransitions(const std::vector<OrderReport>& reports,
                                 std::function<void(Result<ReportVerdict>)> done) = 0;
  // Reports server-wide orders: ReportProcedureDone, all in one call.
  virtual void ReportProceduresDone(const std::vector<OrderReport>& reports, std::function<void(Status)> done) = 0;
};

struct ReporterOptions {
  BackoffPolicy backoff{Millis(50), Millis(1000), 2.0, 0.2};
  std::size_t max_in_flight = 16;     // calls with transitions that are not yet answered
  std::size_t max_transitions = 128;  // in one call
  std::size_t max_batch = 100;        // answers in one ReportProcedureDone
};

class OrderReporter {
 public:
  // All parameters must outlive the reporter; the port's callbacks may come until the port's own end.
  OrderReporter(OrderQueue& queue, EpochGuard& epochs, MasterPort& port, Timers& timers, std::uint64_t seed,
                ReporterOptions options = {});
  ~OrderReporter();
  OrderReporter(const OrderReporter&) = delete;
  OrderReporter& operator=(const OrderReporter&) = delete;

  // Called when a report may have become due.
  void Kick();
  // Sends at once all reports that wait for their next attempt, because there is a new master.
  void RetryNow();
  // Ends the sending of reports.
  void Stop();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace ratchet::regionserver
