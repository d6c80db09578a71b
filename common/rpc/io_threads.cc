#include "common/rpc/io_threads.h"

#include <future>

#include "common/base/check.h"
#include "common/base/thread_name.h"

namespace ratchet::rpc {

IoThreads::IoThreads(const std::string& name, int count) {
  RATCHET_CHECK(count >= 1, "{} I/O threads", count);
  for (int i = 0; i < count; ++i) {
    auto loop = std::make_unique<Loop>();
    loop->thread = std::thread([&context = loop->context, thread_name = name + "-io-" + std::to_string(i)] {
      SetThreadName(thread_name);
      context.run();
    });
    loops_.push_back(std::move(loop));
  }
}

IoThreads::~IoThreads() { Stop(); }

asio::io_context& IoThreads::Next() {
  return loops_[next_.fetch_add(1, std::memory_order_relaxed) % loops_.size()]->context;
}

void IoThreads::Flush() {
  for (const auto& loop : loops_) {
    if (loop->context.stopped()) continue;
    std::promise<void> reached;
    asio::post(loop->context, [&reached] { reached.set_value(); });
    reached.get_future().wait();
  }
}

void IoThreads::Stop() {
  for (const auto& loop : loops_) loop->context.stop();
  for (const auto& loop : loops_) {
    if (loop->thread.joinable()) loop->thread.join();
  }
}

}  // namespace ratchet::rpc
