#include "regionserver/orders/order_reporter.h"

#include <algorithm>
#include <set>
#include <utility>

#include "common/base/fault_point.h"
#include "common/base/log.h"
#include "common/base/mutant.h"

namespace ratchet::regionserver {

// Shared with pending callbacks, which may outlive the reporter.
struct OrderReporter::State : std::enable_shared_from_this<OrderReporter::State> {
  State(OrderQueue& queue_in, EpochGuard& epochs_in, MasterPort& port_in, Timers& timers_in, std::uint64_t seed,
        ReporterOptions options_in)
      : queue(queue_in), epochs(epochs_in), port(port_in), timers(timers_in), options(options_in), prng(seed) {}

  // One thread pumps at a time. A call that answers at once comes back here and only sets a flag, so that any number of
  // such calls needs no deeper stack than one.
  void Kick() {
    {
      MutexLock lock(mutex);
      kicked = true;
      if (pumping) return;
      pumping = true;
    }
    while (PumpOnce()) continue;
  }

  // Returns false when no work is left; then no thread pumps.
  bool PumpOnce() {
    std::vector<std::vector<OrderReport>> calls;
    std::vector<OrderReport> batch;
    {
      MutexLock lock(mutex);
      pumping = std::exchange(kicked, false) && !stopped;
      if (!pumping) return false;
      for (OrderKey& key : queue.DrainNewlyDue()) Queue(std::move(key));
      calls = NextTransitions();
      batch = NextBatch();
    }
    for (std::vector<OrderReport>& call : calls) SendTransitions(std::move(call));
    if (!batch.empty()) SendBatch(std::move(batch));
    return true;
  }

  void Queue(OrderKey key) REQUIRES(mutex) {
    auto& due = key.region.empty() ? procedures : regions;
    due.push_back(std::move(key));
  }

  std::vector<std::vector<OrderReport>> NextTransitions() REQUIRES(mutex) {
    std::vector<std::vector<OrderReport>> calls;
    while (!regions.empty() && in_flight < options.max_in_flight) {
      std::vector<OrderReport> call = NextCall();
      if (call.empty()) break;  // higher orders have taken the places of all
      ++in_flight;
      calls.push_back(std::move(call));
    }
    return calls;
  }

  std::vector<OrderReport> NextCall() REQUIRES(mutex) {
    std::vector<OrderReport> call;
    while (!regions.empty() && call.size() < options.max_transitions) {
      const bool single = alone.contains(regions.front());
      if (single && !call.empty()) break;
      const OrderKey key = std::move(regions.front());
      regions.pop_front();
      if (auto report = queue.BuildReport(key); report.has_value()) {
        call.push_back(std::move(*report));
        if (single) break;
      } else {  // a higher order has taken its place
        Forget(key);
      }
    }
    return call;
  }

  void Forget(const OrderKey& key) REQUIRES(mutex) {
    failures.erase(key);
    alone.erase(key);
  }

  std::vector<OrderReport> NextBatch() REQUIRES(mutex) {
    std::vector<OrderReport> next;
    while (!batch_in_flight && !procedures.empty() && next.size() < options.max_batch) {
      const OrderKey key = std::move(procedures.front());
      procedures.pop_front();
      if (auto report = queue.BuildReport(key); report.has_value()) {
        next.push_back(std::move(*report));
      } else {
        failures.erase(key);
      }
    }
    batch_in_flight = batch_in_flight || !next.empty();
    return next;
  }

  void SendTransitions(std::vector<OrderReport> call) {
    std::vector<OrderReport> sent;
    for (OrderReport& report : call) {
      if (Status fault = HitFault("regionserver.before_report", report.key.region); !fault.ok()) {
        MutexLock lock(mutex);
        Delay({report.key}, fault.error());
        continue;
      }
      RATCHET_LOG(kInfo, "pid={} Report; region={}, outcome={}, epoch={}, attempt={}", report.pid, report.key.region,
                  OutcomeName(report.answer.outcome), report.address.epoch, report.address.attempt);
      sent.push_back(std::move(report));
    }
    if (sent.empty()) return CallEnded();
    auto shared = std::make_shared<const std::vector<OrderReport>>(std::move(sent));
    port.ReportTransitions(*shared, [self = shared_from_this(), shared](const Result<ReportVerdict>& verdict) {
      self->TransitionsDone(*shared, verdict);
    });
  }

  void CallEnded() {
    {
      MutexLock lock(mutex);
      --in_flight;
    }
    Kick();
  }

  void TransitionsDone(const std::vector<OrderReport>& sent, const Result<ReportVerdict>& verdict) {
    if (!verdict.ok()) {
      NotTaken(sent, verdict.error());
    } else {
      IgnoreResult(epochs.Admit(verdict->epoch), "an answer can only raise the known epoch; a lower epoch is ignored");
      if (verdict->stale && sent.size() > 1 && !RATCHET_MUTANT("orders.stale_for_all")) {
        SendAlone(sent);
      } else {
        for (const OrderReport& report : sent) Answered(report, *verdict);
      }
    }
    CallEnded();
  }

  void Answered(const OrderReport& report, const ReportVerdict& verdict) {
    bool again_now = false;
    if (verdict.stale) {
      again_now = queue.RefusedAsStale(report, verdict.expected);
      RATCHET_LOG(kInfo, "pid={} Report refused as stale; region={}, epoch={}, attempt={}{}", report.pid,
                  report.key.region, report.address.epoch, report.address.attempt,
                  again_now ? ", sent again to the newer address" : "");
    } else {
      again_now = !queue.Acknowledged(report);
      IgnoreResult(HitFault("regionserver.after_report", report.key.region), "the report is finished");
    }
    MutexLock lock(mutex);
    Forget(report.key);
    if (again_now) Queue(report.key);
  }

  // The answer is that of one report, and does not name it.
  void SendAlone(const std::vector<OrderReport>& sent) {
    MutexLock lock(mutex);
    for (const OrderReport& report : sent) {
      alone.insert(report.key);
      Queue(report.key);
    }
  }

  // If the call did not arrive, its reports are not the cause. One of them may be the cause of any other error.
  void NotTaken(const std::vector<OrderReport>& sent, const Error& error) {
    std::vector<OrderKey> keys;
    for (const OrderReport& report : sent) keys.push_back(report.key);
    MutexLock lock(mutex);
    if (error.code() != Code::kUnavailable && sent.size() > 1) alone.insert(keys.begin(), keys.end());
    if (!RATCHET_MUTANT("orders.report_once")) Delay(std::move(keys), error);
  }

  void SendBatch(std::vector<OrderReport> batch) {
    if (Status fault = HitFault("regionserver.before_report", "procedures"); !fault.ok()) {
      BatchDone(batch, std::move(fault));
      return;
    }
    port.ReportProceduresDone(
        batch, [self = shared_from_this(), batch](Status status) { self->BatchDone(batch, std::move(status)); });
  }

  void BatchDone(const std::vector<OrderReport>& batch, Status status) {
    std::vector<OrderKey> again;
    for (const OrderReport& report : batch) {
      if (status.ok() && queue.Acknowledged(report)) continue;
      again.push_back(report.key);
    }
    if (status.ok()) IgnoreResult(HitFault("regionserver.after_report", "procedures"), "the report is finished");
    {
      MutexLock lock(mutex);
      batch_in_flight = false;
      if (status.ok()) {
        for (const OrderReport& report : batch) failures.erase(report.key);
        for (OrderKey& key : again) Queue(std::move(key));
      } else {
        Delay(std::move(again), status.error());
      }
    }
    Kick();
  }

  void Delay(std::vector<OrderKey> keys, const Error& why) REQUIRES(mutex) {
    std::uint32_t attempt = 0;
    for (const OrderKey& key : keys) attempt = std::max(attempt, ++failures[key]);
    const Millis delay = BackoffDelay(options.backoff, attempt, prng);
    RATCHET_LOG(kInfo, "Report of {} order(s), first {}, not taken: {}; attempt={}, again in {} ms", keys.size(),
                keys.front().ToString(), why.ToString(), attempt, delay.count());
    const std::uint64_t ticket = ++last_ticket;
    delayed.emplace(ticket, std::move(keys));
    timers.After(delay, [weak = weak_from_this(), ticket] {
      if (auto self = weak.lock()) self->Retry(ticket);
    });
  }

  void Retry(std::uint64_t ticket) {
    {
      MutexLock lock(mutex);
      auto waiting = delayed.extract(ticket);
      if (waiting.empty()) return;  // RetryNow was faster
      for (OrderKey& key : waiting.mapped()) Queue(std::move(key));
    }
    Kick();
  }

  void RetryNow() {
    {
      MutexLock lock(mutex);
      for (auto& [ticket, keys] : std::exchange(delayed, {})) {
        for (OrderKey& key : keys) Queue(std::move(key));
      }
    }
    Kick();
  }

  OrderQueue& queue;
  EpochGuard& epochs;
  MasterPort& port;
  Timers& timers;
  const ReporterOptions options;
  Mutex mutex;
  bool stopped GUARDED_BY(mutex) = false;
  bool pumping GUARDED_BY(mutex) = false;
  bool kicked GUARDED_BY(mutex) = false;  // set since the pumping thread last looked
  Prng prng GUARDED_BY(mutex);
  std::deque<OrderKey> regions GUARDED_BY(mutex);     // keys to be sent
  std::deque<OrderKey> procedures GUARDED_BY(mutex);  // keys to be sent
  // by ticket: keys that wait for their timers
  std::map<std::uint64_t, std::vector<OrderKey>> delayed GUARDED_BY(mutex);
  std::uint64_t last_ticket GUARDED_BY(mutex) = 0;
  std::map<OrderKey, std::uint32_t> failures GUARDED_BY(mutex);
  std::set<OrderKey> alone GUARDED_BY(mutex);   // reports that need an answer of their own
  std::size_t in_flight GUARDED_BY(mutex) = 0;  // calls with transitions
  bool batch_in_flight GUARDED_BY(mutex) = false;
};

OrderReporter::OrderReporter(OrderQueue& queue, EpochGuard& epochs, MasterPort& port, Timers& timers,
                             std::uint64_t seed, ReporterOptions options)
    : state_(std::make_shared<State>(queue, epochs, port, timers, seed, options)) {}

OrderReporter::~OrderReporter() { Stop(); }

void OrderReporter::Kick() { state_->Kick(); }

void OrderReporter::RetryNow() { state_->RetryNow(); }

void OrderReporter::Stop() {
  MutexLock lock(state_->mutex);
  state_->stopped = true;
}

}  // namespace ratchet::regionserver
