#include "regionserver/server/side_by_side.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "common/base/thread_name.h"

namespace ratchet::regionserver {

void RunSideBySide(std::size_t threads, std::size_t count, const std::function<void(std::size_t)>& job) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) job(i);
  };
  std::vector<std::thread> helpers;
  for (std::size_t i = 1; i < std::min(threads, count); ++i) {
    helpers.emplace_back([&] {
      SetThreadName("split-publish");
      work();
    });
  }
  work();
  for (std::thread& helper : helpers) helper.join();
}

}  // namespace ratchet::regionserver
