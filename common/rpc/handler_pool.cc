#include "common/rpc/handler_pool.h"

#include <utility>

#include "common/base/check.h"
#include "common/base/thread_name.h"
#include "common/rpc/call_state.h"

namespace ratchet::rpc {
namespace {

constexpr auto kQueueNames = kQueueClassNames;

}  // namespace

HandlerPool::HandlerPool(const ServerOptions& options)
    : max_call_bytes_(options.max_call_bytes), max_frame_bytes_(options.max_frame_bytes) {
  for (std::size_t i = 0; i < kQueueClasses; ++i) {
    Queue& queue = queues_[i];
    RATCHET_CHECK(options.queues[i].threads >= 1, "queue {} has no threads", kQueueNames[i]);
    queue.max_calls = options.queues[i].max_calls;
    for (int t = 0; t < options.queues[i].threads; ++t) {
      queue.threads.emplace_back([this, &queue, name = fmt::format("{}-{}-{}", options.name, kQueueNames[i], t)] {
        SetThreadName(name);
        Work(queue);
      });
    }
  }
}

HandlerPool::~HandlerPool() { Stop(); }

bool HandlerPool::Submit(QueueClass queue_class, std::shared_ptr<CallState> call) {
  Queue& queue = queues_[static_cast<std::size_t>(queue_class)];
  const bool of_members = queue_class == QueueClass::kTransition || queue_class == QueueClass::kMemberMeta;
  const std::size_t quarters = queue_class == QueueClass::kData ? 0 : of_members ? 2 : 1;
  const std::size_t reserve = max_call_bytes_ / 4 * quarters;
  if (!call->Charge(max_call_bytes_ + reserve, max_frame_bytes_)) return false;
  bool accepted = false;
  bool wake = false;
  {
    MutexLock lock(queue.mutex);
    if (!queue.stopped && queue.calls.size() < queue.max_calls) {
      queue.calls.push_back(std::move(call));
      accepted = true;
      wake = WantsWake(queue);
    }
  }
  if (wake) queue.filled.NotifyOne();
  return accepted;
}

std::shared_ptr<CallState> HandlerPool::Resume(QueueClass queue_class, std::shared_ptr<CallState> call) {
  Queue& queue = queues_[static_cast<std::size_t>(queue_class)];
  bool wake = false;
  {
    MutexLock lock(queue.mutex);
    if (queue.stopped) return call;
    queue.calls.push_back(std::move(call));
    wake = WantsWake(queue);
  }
  if (wake) queue.filled.NotifyOne();
  return nullptr;
}

// True if a call waits and the caller has to wake an idle thread for it.
bool HandlerPool::WantsWake(Queue& queue) {
  if (queue.calls.empty() || queue.idle == 0 || queue.waking) return false;
  queue.waking = true;
  return true;
}

void HandlerPool::Work(Queue& queue) {
  for (;;) {
    std::shared_ptr<CallState> call;
    bool wake = false;
    {
      MutexLock lock(queue.mutex);
      while (queue.calls.empty() && !queue.stopped) {
        ++queue.idle;
        queue.filled.Wait(queue.mutex);
        --queue.idle;
        queue.waking = false;
      }
      if (queue.stopped) return;
      call = std::move(queue.calls.front());
      queue.calls.pop_front();
      wake = WantsWake(queue);
    }
    if (wake) queue.filled.NotifyOne();
    CallState::Run(std::move(call));
  }
}

std::array<std::size_t, kQueueClasses> HandlerPool::Lengths() const {
  std::array<std::size_t, kQueueClasses> lengths{};
  for (std::size_t i = 0; i < kQueueClasses; ++i) {
    const Queue& queue = queues_[i];
    MutexLock lock(queue.mutex);
    lengths[i] = queue.calls.size();
  }
  return lengths;
}

void HandlerPool::Stop() {
  for (Queue& queue : queues_) {
    std::deque<std::shared_ptr<CallState>> dropped;
    {
      MutexLock lock(queue.mutex);
      queue.stopped = true;
      dropped.swap(queue.calls);
    }
    queue.filled.NotifyAll();
    for (const auto& call : dropped) call->Drop();
  }
  for (Queue& queue : queues_) {
    for (std::thread& thread : queue.threads) {
      if (thread.joinable()) thread.join();
    }
  }
}

}  // namespace ratchet::rpc
