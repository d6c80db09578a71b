#include "common/http/http_workers.h"

#include <utility>

namespace ratchet::http {

HttpWorkers::HttpWorkers(const HttpWorkersOptions& options) {
  const auto add = [&](const char* word, int threads) {
    lanes_.emplace_back(ThreadPool::Options{.name = options.name + "-" + word,
                                            .threads = static_cast<std::size_t>(threads),
                                            .max_queued = options.queue_length});
  };
  add("fast", options.fast_threads);
  add("slow", options.slow_threads);
  add("login", options.login_threads);
  add("stream", options.stream_threads);
}

HttpWorkers::~HttpWorkers() { Stop(); }

bool HttpWorkers::Run(Lane lane, std::function<void()> work) {
  return lanes_[static_cast<std::size_t>(lane)].Submit({std::move(work)});
}

void HttpWorkers::Stop() {
  for (ThreadPool& lane : lanes_) lane.BeginStop();
  for (ThreadPool& lane : lanes_) lane.Stop();
}

}  // namespace ratchet::http
