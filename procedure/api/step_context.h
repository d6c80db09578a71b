// The interface between a step and the framework. Lives for one run of one step (or undo), on one thread; do not keep a
// reference to it.
#pragma once

#include <any>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/prng.h"
#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "procedure/api/event.h"
#include "procedure/api/procedure.h"
#include "procedure/api/procedure.h"  // an outcome owns the children that it spawns
#include "procedure/api/step_table.h"

namespace ratchet::procedure {

// A succeeded child, as its parent sees it when the parent resumes.
struct ChildResult {
  ProcId pid;
  std::string type;
  std::string result;  // of its Done
};

class StepContext {
 public:
  virtual ~StepContext() = default;
  StepContext(const StepContext&) = delete;
  StepContext& operator=(const StepContext&) = delete;

  [[nodiscard]] virtual ProcId pid() const = 0;
  [[nodiscard]] virtual ProcId parent() const = 0;  // invalid for a root
  [[nodiscard]] virtual ProcId root() const = 0;
  [[nodiscard]] virtual Epoch epoch() const = 0;
  // 1 for the first run of this state, one more after each Retry; 1 again after a restart.
  [[nodiscard]] virtual std::uint32_t attempt() const = 0;
  // True when this run was caused by the time-out of this state's Await and nothing else happened first. True once per
  // Await.
  [[nodiscard]] virtual bool timed_out() const = 0;
  // True while undoing.
  [[nodiscard]] virtual bool undoing() const = 0;
  [[nodiscard]] virtual const std::string& owner() const = 0;  // the requesting user; inherited by children
  [[nodiscard]] virtual Clock& clock() const = 0;
  [[nodiscard]] virtual Prng& prng() = 0;
  [[nodiscard]] virtual const EnvRef& env_ref() const = 0;
  template <class T>
  [[nodiscard]] T& env() const {
    return env_ref().As<T>();
  }

  // The children that the last Spawn started, in the order of their pids. Empty unless this procedure has just resumed
  // after them.
  [[nodiscard]] virtual const std::vector<ChildResult>& children() const = 0;

  // Take the ticket before looking and before sending; see event.h.
  [[nodiscard]] virtual WaitTicket TakeTicket(EventKey key) = 0;

  // Asynchronous work outside (an RPC, a write to meta). The first call in a state starts the work and returns nullopt;
  // the step then returns AwaitAsync(). When `done` is called, on any thread, also before `start` returns, the SAME
  // step runs again and AsyncCall returns the value. Several keys may be in progress together. The work is known in
  // memory only. It is forgotten when the state changes, on Retry and Yield, when the tree is undone, and with the
  // process: the step then starts the work again, and a late `done` of forgotten work is ignored. `done` may be called
  // at most once; never calling it is legal only together with AwaitAsync(timeout). T must be copyable. An undo
  // function may use it only with StayForAsyncInUndo: its work is forgotten when the run of the undo ends.
  template <class T>
  [[nodiscard]] std::optional<T> AsyncCall(std::string_view key,
                                           const std::function<void(std::function<void(T)> done)>& start) {
    std::any* value = AsyncValue(key);
    if (value != nullptr) return std::any_cast<T>(*value);
    if (std::function<void(std::any)> finish = BeginAsync(key)) {
      start([finish = std::move(finish)](T result) { finish(std::any(std::move(result))); });
      value = AsyncValue(key);  // completed inside `start`
      if (value != nullptr) return std::any_cast<T>(*value);
    }
    return std::nullopt;
  }
  // Forgets one key, so that the next AsyncCall starts the work again (e.g. to retry a send within the same state).
  virtual void ForgetOnce(std::string_view key) = 0;

  // Suspends without a commit and without releasing locks until an AsyncCall is done, a report is absorbed, or
  // `timeout` passes.
  [[nodiscard]] StepOutcome AwaitAsync(std::optional<Millis> timeout = std::nullopt) {
    return Await{std::nullopt, timeout, /*in_memory=*/true};
  }

  // For work that must not outlive its step, such as an action on files (S122: actions on files end with their step).
  // The step stays in progress, without a worker, until an AsyncCall is done; then the SAME step runs again from its
  // beginning. For verbs, aborts, undos, reports, pauses and locks it is a step that runs: all of them wait for it.
  [[nodiscard]] StepOutcome StayForAsync() {
    Stay();
    return Await{std::nullopt, std::nullopt, /*in_memory=*/true};
  }
  // An undo function returns this instead.
  [[nodiscard]] Status StayForAsyncInUndo() {
    Stay();
    return Error(Code::kUnavailable, "its own work is in progress");
  }

  // Stages a record into the same atomic batch as this step's outcome, S12 (system record with its lock: only by the
  // holder of that key's lock). Dropped when the outcome is Retry, Yield or AwaitAsync. Allowed in undo functions.
  virtual void PutSystemRecord(std::string key, std::string value) = 0;
  virtual void DeleteSystemRecord(std::string key) = 0;

  // The epoch CHECK of S2 (check is positive), synchronously: ok only while this master still owns the procedure store.
  // A step calls it between the commit and each send (S18: check before each send) and before each action on files
  // (S31: names are never reused). After an error the step must stop and do nothing more.
  [[nodiscard]] virtual Status CheckOwner() = 0;
  // CheckOwner for work on another thread; callable as long as the store exists.
  [[nodiscard]] virtual std::function<Status()> OwnerCheck() const = 0;
  // True for the step of a procedure that the reserved workers run (Priority).
  [[nodiscard]] virtual bool urgent() const = 0;

 protected:
  StepContext() = default;
  virtual void Stay() = 0;
  // Null while the value has not arrived. Valid until the next call.
  virtual std::any* AsyncValue(std::string_view key) = 0;
  // Null when the work is already in progress.
  virtual std::function<void(std::any)> BeginAsync(std::string_view key) = 0;
};

}  // namespace ratchet::procedure
