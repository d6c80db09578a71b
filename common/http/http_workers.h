// Threads that run the handlers of an HTTP server, in lanes with a bounded queue each. A handler that answers at once
// does not wait for one that asks other processes; a view does not wait for followers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>

#include "common/base/thread_pool.h"

namespace ratchet::http {

enum class Lane : std::uint8_t {
  kFast,    // from memory, in milliseconds: metrics, files of the page
  kSlow,    // may wait for other processes, up to its own time-outs
  kLogin,   // compares a password, which needs a tenth of a second
  kStream,  // sources of streams, which may wait likewise
};

struct HttpWorkersOptions {
  std::string name = "http";
  int fast_threads = 1;
  int slow_threads = 3;
  int login_threads = 1;
  int stream_threads = 1;
  std::size_t queue_length = 64;  // of each lane
};

// Thread-safe. Stop drops queued work, and returns when no handler runs.
class HttpWorkers {
 public:
  explicit HttpWorkers(const HttpWorkersOptions& options);
  ~HttpWorkers();
  HttpWorkers(const HttpWorkers&) = delete;
  HttpWorkers& operator=(const HttpWorkers&) = delete;

  // False when the lane's queue is full, or after Stop.
  [[nodiscard]] bool Run(Lane lane, std::function<void()> work);
  void Stop();

 private:
  std::deque<ThreadPool> lanes_;  // by Lane
};

}  // namespace ratchet::http
