// What a step sees of the framework. Lives for one run of one step (or undo), on one thread; keep no reference to it.
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
#include "procedure/author/env_ref.h"
#include "procedure/author/event.h"
#include "procedure/author/step_outcome.h"

namespace ratchet::procedure {

// A child that has succeeded, as its parent sees it when it goes on.
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
  // 1 for the first run of this state, one more after each Retry; starts again after a restart.
  [[nodiscard]] virtual std::uint32_t attempt() const = 0;
  // True when this run was caused by the time-out of this state's Await and nothing else happened first. Once per
  // Await.
  [[nodiscard]] virtual bool timed_out() const = 0;
  // True while undoing.
  [[nodiscard]] virtual bool undoing() const = 0;
  [[nodiscard]] virtual const std::string& owner() const = 0;  // the user that asked; inherited by children
  [[nodiscard]] virtual Clock& clock() const = 0;
  [[nodiscard]] virtual Prng& prng() = 0;
  [[nodiscard]] virtual const EnvRef& env_ref() const = 0;
  template <class T>
  [[nodiscard]] T& env() const {
    return env_ref().As<T>();
  }

  // The children that the last Spawn started, in the order of their pids. Empty unless this procedure has just gone on.
  [[nodiscard]] virtual const std::vector<ChildResult>& children() const = 0;

  // Before looking and before sending; see event.h.
  [[nodiscard]] virtual WaitTicket TakeTicket(EventKey key) = 0;

  // Asynchronous work outside (an RPC, a write to meta). The first call in a state starts it and returns nothing; the
  // step then returns AwaitOnce(). When `done` is called, on any thread, also before `start` returns, the SAME step
  // runs again and Once returns the value. Several keys may be under way together. In memory only: forgotten when the
  // state changes, on Retry and Yield, when the tree is undone, and with the process: the step then starts from scratch
  // and starts the work again; a late `done` of forgotten work is ignored. `done` may be called at most once; never is
  // legal only together with AwaitOnce(timeout). T must be copyable. Not for undo functions.
  template <class T>
  [[nodiscard]] std::optional<T> Once(std::string_view key,
                                      const std::function<void(std::function<void(T)> done)>& start) {
    std::any* value = OnceValue(key);
    if (value != nullptr) return std::any_cast<T>(*value);
    if (std::function<void(std::any)> finish = OnceBegin(key)) {
      start([finish = std::move(finish)](T result) { finish(std::any(std::move(result))); });
      value = OnceValue(key);  // done at once
      if (value != nullptr) return std::any_cast<T>(*value);
    }
    return std::nullopt;
  }
  // Forgets one key, so that the next Once starts the work again (e.g. to retry a send within the same state).
  virtual void ForgetOnce(std::string_view key) = 0;

  // Parks without a commit and without letting go of locks until a Once is done, a report is absorbed, or `timeout`.
  [[nodiscard]] StepOutcome AwaitOnce(std::optional<Millis> timeout = std::nullopt) {
    return Await{std::nullopt, timeout, /*in_memory=*/true};
  }

  // Staged into the same atomic batch as this step's outcome (S12: only by the holder of that key's lock). Dropped when
  // the outcome is Retry, Yield or AwaitOnce. Allowed in undo functions.
  virtual void PutSystemRecord(std::string key, std::string value) = 0;
  virtual void DeleteSystemRecord(std::string key) = 0;

  // The epoch CHECK of rule S2, synchronously: ok only while this master still owns the procedure store. Stands
  // between the commit and each send (S18) and before each action on files (S31). An error means: stop, do nothing
  // more.
  [[nodiscard]] virtual Status CheckOwner() = 0;

 protected:
  StepContext() = default;
  // Null while the value is not there. Valid until the next call.
  virtual std::any* OnceValue(std::string_view key) = 0;
  // Null when the work is already under way.
  virtual std::function<void(std::any)> OnceBegin(std::string_view key) = 0;
};

}  // namespace ratchet::procedure
