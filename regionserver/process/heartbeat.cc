#include "regionserver/process/heartbeat.h"

#include <utility>

#include "common/base/log.h"
#include "common/base/mutex.h"

namespace ratchet::regionserver {

struct Heartbeat::State : std::enable_shared_from_this<Heartbeat::State> {
  State(MasterLink& link_in, EpochGuard& epochs_in, Timers& timers_in, Live<Millis> interval_in,
        HeartbeatParts parts_in)
      : link(link_in), epochs(epochs_in), timers(timers_in), interval(interval_in), parts(std::move(parts_in)) {}

  void Tick() {
    parts.look();
    Report();
    timers.After(interval, [weak = weak_from_this()] {
      if (auto self = weak.lock(); self != nullptr && !self->Stopped()) self->Tick();
    });
  }

  void Report() {
    {
      MutexLock lock(mutex);
      if (stopped || in_flight) return;
      in_flight = true;
    }
    pb::RegionServerReportRequest request;
    parts.fill(request);
    link.Heartbeat(request, [self = shared_from_this()](Result<pb::RegionServerReportResponse> response) {
      self->Reported(response);
    });
  }

  void Reported(const Result<pb::RegionServerReportResponse>& response) {
    if (response.ok() && response->has_epoch()) {
      IgnoreResult(epochs.Admit(Epoch(response->epoch())), "an answer can only raise the known epoch");
    }
    parts.answered(response.ok() ? &*response : nullptr);
    MutexLock lock(mutex);
    in_flight = false;
    // Logs one line when reports are no longer accepted, and one when they are accepted again.
    if (response.ok() == taken) return;
    taken = response.ok();
    if (taken) {
      RATCHET_LOG(kInfo, "The master accepts this server's reports");
    } else {
      RATCHET_LOG(kInfo, "The master does not accept this server's reports: {}", response.error().ToString());
    }
  }

  bool Stopped() {
    MutexLock lock(mutex);
    return stopped;
  }

  MasterLink& link;
  EpochGuard& epochs;
  Timers& timers;
  const Live<Millis> interval;
  const HeartbeatParts parts;
  Mutex mutex;
  bool stopped GUARDED_BY(mutex) = false;
  bool in_flight GUARDED_BY(mutex) = false;
  bool taken GUARDED_BY(mutex) = false;
};

Heartbeat::Heartbeat(MasterLink& link, EpochGuard& epochs, Timers& timers, Live<Millis> interval, HeartbeatParts parts)
    : state_(std::make_shared<State>(link, epochs, timers, interval, std::move(parts))) {}

Heartbeat::~Heartbeat() { Stop(); }

void Heartbeat::Start() { state_->Tick(); }

void Heartbeat::Now() { state_->Report(); }

void Heartbeat::Stop() {
  MutexLock lock(state_->mutex);
  state_->stopped = true;
}

}  // namespace ratchet::regionserver
