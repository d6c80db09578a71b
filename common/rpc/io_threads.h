// A few threads, each with its own event loop; a connection stays on one of the loops for life. Internal.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/rpc/asio_types.h"

namespace ratchet::rpc {

// Thread-safe. Stop (and the destructor) waits for the running callback of each loop and drops the rest; not from one
// of its own threads.
class IoThreads {
 public:
  IoThreads(const std::string& name, int count);
  ~IoThreads();
  IoThreads(const IoThreads&) = delete;
  IoThreads& operator=(const IoThreads&) = delete;

  [[nodiscard]] asio::io_context& Next();  // round robin
  [[nodiscard]] asio::io_context& First() { return loops_.front()->context; }
  // Returns when each loop has run the work that was posted before. Not from one of its own threads.
  void Flush();
  void Stop();

 private:
  struct Loop {
    asio::io_context context{1};
    asio::executor_work_guard<asio::io_context::executor_type> work = asio::make_work_guard(context);
    std::thread thread;
  };
  std::vector<std::unique_ptr<Loop>> loops_;
  std::atomic<std::size_t> next_{0};
};

}  // namespace ratchet::rpc
