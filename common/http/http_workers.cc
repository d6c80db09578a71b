#include "common/http/http_workers.h"

#include <utility>

#include <fmt/format.h>

#include "common/base/thread_name.h"

namespace ratchet::http {

HttpWorkers::HttpWorkers(const HttpWorkersOptions& options) : queue_length_(options.queue_length) {
  const auto start = [this, &options](Lane lane, const char* word, int count) {
    for (int i = 0; i < count; ++i) {
      threads_.emplace_back(
          [&queue = queues_[static_cast<std::size_t>(lane)], name = fmt::format("{}-{}-{}", options.name, word, i)] {
            SetThreadName(name);
            Work(queue);
          });
    }
  };
  start(Lane::kFast, "fast", options.fast_threads);
  start(Lane::kSlow, "slow", options.slow_threads);
  start(Lane::kStream, "stream", options.stream_threads);
}

HttpWorkers::~HttpWorkers() { Stop(); }

bool HttpWorkers::Run(Lane lane, std::function<void()> work) {
  Queue& queue = queues_[static_cast<std::size_t>(lane)];
  {
    MutexLock lock(queue.mutex);
    if (queue.stopped || queue.work.size() >= queue_length_) return false;
    queue.work.push_back(std::move(work));
  }
  queue.filled.NotifyOne();
  return true;
}

void HttpWorkers::Work(Queue& queue) {
  for (;;) {
    std::function<void()> work;
    {
      MutexLock lock(queue.mutex);
      while (queue.work.empty() && !queue.stopped) queue.filled.Wait(queue.mutex);
      if (queue.stopped) return;
      work = std::move(queue.work.front());
      queue.work.pop_front();
    }
    work();
  }
}

void HttpWorkers::Stop() {
  for (Queue& queue : queues_) {
    {
      MutexLock lock(queue.mutex);
      queue.stopped = true;
      queue.work.clear();
    }
    queue.filled.NotifyAll();
  }
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

}  // namespace ratchet::http
