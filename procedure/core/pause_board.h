// The pauses, and the operators that wait for steps in flight to end. Pure data; pause.h works on it under the
// executor's lock.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <unordered_set>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "procedure/api/pause_scope.h"
#include "procedure/api/views.h"

namespace ratchet::procedure {

using PauseDone = std::function<void(Result<PauseReport>)>;

// A request to pause or resume, queued behind the one whose record is being written, S12 (system record with its lock:
// one writer per key).
struct PauseChange {
  bool resume = false;
  PauseScope scope;
  OperatorNote note;
  Millis patience{0};  // for a pause: how long to wait for steps in flight
  PauseDone done;
};

// An operator waits until no step of what is paused runs.
struct PauseBarrier {
  std::unordered_set<ProcId> running;
  Timers::Handle timer = 0;
  std::function<void(PauseReport)> answer;
  PauseScope scope;
};

struct PauseBoard {
  std::vector<PauseInfo> active;
  std::vector<PauseLogEntry> log;  // as stored
  std::deque<PauseChange> line;
  bool writing = false;  // the record of the first change in the queue is being stored
  std::vector<std::shared_ptr<PauseBarrier>> barriers;
};

}  // namespace ratchet::procedure
