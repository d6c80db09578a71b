// Sends the answers to orders until the master has taken them, for ever, through any number of masters (rules
// S20).
//
// A report is built when it is sent, never before, so that it carries the newest address. Openings and closings travel
// one by one, many at a time; answers of server-wide orders in batches, one batch at a time.
//
// Thread-safe. It has no thread: it runs on the thread that calls Kick, on timers and on the port's callbacks.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>

#include "common/base/backoff.h"
#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/prng.h"
#include "regionserver/orders/epoch_guard.h"
#include "regionserver/orders/master_port.h"
#include "regionserver/orders/order_queue.h"

namespace ratchet::regionserver {

struct ReporterOptions {
  BackoffPolicy backoff{Millis(50), Millis(1000), 2.0, 0.2};
  std::size_t max_in_flight = 64;  // transitions sent and not yet answered
  std::size_t max_batch = 100;     // answers in one ReportProcedureDone
};

class OrderReporter {
 public:
  // All must outlive the reporter; the port's callbacks may come until its own end.
  OrderReporter(OrderQueue& queue, EpochGuard& epochs, MasterPort& port, Timers& timers, std::uint64_t seed,
                ReporterOptions options = {});
  ~OrderReporter();
  OrderReporter(const OrderReporter&) = delete;
  OrderReporter& operator=(const OrderReporter&) = delete;

  // Something may have become due.
  void Kick();
  // Whatever waits for its next attempt is sent now: there is a new master.
  void RetryNow();
  // Sends nothing more.
  void Stop();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace ratchet::regionserver
