// Runs the steps: with real threads, or one by one for a test.
//
// The pool knows nothing of procedures: it asks a WorkSource for pieces of work and sleeps when there is none.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"

namespace ratchet::procedure {

struct WorkerInfo {
  std::uint32_t number = 0;  // unique within the pool's life; shown in the step history
  bool urgent_only = false;  // the reserved capacity: takes only urgent work
};

class WorkSource {
 public:
  virtual ~WorkSource() = default;
  // Does up to `at_most` pieces of work, one after the other, and returns how many. Fewer: there was none left for this
  // worker.
  virtual std::size_t Run(const WorkerInfo& worker, std::size_t at_most) = 0;
};

class WorkerPool {
 public:
  virtual ~WorkerPool() = default;
  // `source` must outlive the pool's Stop.
  virtual void Start(WorkSource& source) = 0;
  // New work exists. Thread-safe, cheap, callable before Start and after Stop.
  virtual void Notify(bool urgent) = 0;
  // Returns when no worker runs.
  virtual void Stop() = 0;
  // Adds one worker until it has been idle for `idle`. False when the pool's bound is reached or it cannot.
  virtual bool AddTemporary(Millis idle) = 0;
  [[nodiscard]] virtual std::size_t size() const = 0;
};

struct ThreadWorkersOptions {
  std::size_t workers = 16;         // regular workers, at least 1
  std::size_t reserved = 1;         // more workers, which take only urgent work
  std::size_t max_temporary = 144;  // maximum number of workers that AddTemporary adds
  std::string name = "PEWorker";    // thread names are "<name>-<number>"
};

// A pool of threads. Thread-safe.
[[nodiscard]] std::unique_ptr<WorkerPool> MakeThreadWorkers(ThreadWorkersOptions options);

// A step runs only when the test calls RunOne. Single-threaded.
class ManualWorkers final : public WorkerPool {
 public:
  void Start(WorkSource& source) override { source_ = &source; }
  void Notify(bool /*urgent*/) override {}
  void Stop() override { source_ = nullptr; }
  bool AddTemporary(Millis /*idle*/) override { return false; }
  [[nodiscard]] std::size_t size() const override { return 1; }

  // Does one piece of work; false when there is none (or not started).
  bool RunOne() { return source_ != nullptr && source_->Run({1, false}, 1) > 0; }
  // RunOne for the reserved worker.
  bool RunOneUrgent() { return source_ != nullptr && source_->Run({0, true}, 1) > 0; }
  // Runs until nothing is runnable; returns how much was done. `limit` guards against procedures that never stop.
  std::size_t RunUntilIdle(std::size_t limit = 1'000'000) {
    std::size_t count = 0;
    while (count < limit && RunOne()) ++count;
    return count;
  }

 private:
  WorkSource* source_ = nullptr;
};

}  // namespace ratchet::procedure
