// Threads that run handlers: each class has a bounded queue and its own threads. Internal.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/base/mutex.h"
#include "common/rpc/server_options.h"

namespace ratchet::rpc {

class CallState;

// One thread is woken at a time, and wakes the next one before it runs its call. So threads that are awake take some of
// the calls that arrive together, and no call waits for the end of another while a thread is idle.
//
// Thread-safe. Stop drops waiting calls and returns when no handler runs.
class HandlerPool {
 public:
  explicit HandlerPool(const ServerOptions& options);
  ~HandlerPool();
  HandlerPool(const HandlerPool&) = delete;
  HandlerPool& operator=(const HandlerPool&) = delete;

  // False when the class's queue or the byte budget of all unanswered calls is full.
  [[nodiscard]] bool Submit(QueueClass queue, std::shared_ptr<CallState> call);
  // For a call that was accepted before and left its thread meanwhile: there is room for it whatever waits. Returns
  // null, or the call if the pool was stopped.
  [[nodiscard]] std::shared_ptr<CallState> Resume(QueueClass queue, std::shared_ptr<CallState> call);
  void Stop();
  // Waiting calls, by class.
  [[nodiscard]] std::array<std::size_t, kQueueClasses> Lengths() const;

 private:
  struct Queue {
    std::size_t max_calls = 0;
    mutable Mutex mutex;
    CondVar filled;
    std::deque<std::shared_ptr<CallState>> calls GUARDED_BY(mutex);
    bool stopped GUARDED_BY(mutex) = false;
    std::size_t idle GUARDED_BY(mutex) = 0;  // threads that wait for a call
    bool waking GUARDED_BY(mutex) = false;   // a thread was woken, and has not looked yet
    std::vector<std::thread> threads;
  };
  void Work(Queue& queue);
  [[nodiscard]] static bool WantsWake(Queue& queue) REQUIRES(queue.mutex);

  const std::size_t max_call_bytes_;
  const std::size_t max_frame_bytes_;
  std::array<Queue, kQueueClasses> queues_;
};

}  // namespace ratchet::rpc
