// Notifies a host of every procedure's beginning and end.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "procedure/api/views.h"

namespace ratchet::procedure {

// Called for every procedure after the commit that made the event true, one at a time and in that order. See the
// comment in executor.h.
class ProcedureListener {
 public:
  virtual ~ProcedureListener() = default;
  virtual void OnAdded(const ProcedureInfo& /*info*/) {}  // submitted, spawned or loaded
  // The procedure has reached its final state; this includes members of an undone tree. `info` includes its steps
  // (ProcedureInfo::history), because the procedure may be gone.
  virtual void OnFinished(const ProcedureInfo& /*info*/) {}
};

// A listener as the executor keeps it. A notification that was queued before the listener was removed is dropped.
struct RegisteredListener {
  explicit RegisteredListener(std::shared_ptr<ProcedureListener> the_listener) : listener(std::move(the_listener)) {}

  const std::shared_ptr<ProcedureListener> listener;
  std::atomic<bool> removed{false};
};

}  // namespace ratchet::procedure
