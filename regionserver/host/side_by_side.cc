#include "regionserver/host/side_by_side.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

#include "common/base/log.h"
#include "common/base/thread_name.h"

namespace ratchet::regionserver {

void RunSideBySide(std::size_t threads, std::size_t count, const std::function<void(std::size_t)>& job,
                   const char* thread_name) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) job(i);
  };
  std::vector<std::thread> helpers;
  for (std::size_t i = 1; i < std::min(threads, count); ++i) {
    try {
      helpers.emplace_back([&] {
        SetThreadName(thread_name);
        work();
      });
    } catch (const std::system_error& none) {
      RATCHET_LOG(kWarn, "{} of {} threads for {} jobs: {}", i, threads, count, none.what());
      break;  // fewer threads, so it takes longer
    }
  }
  work();
  for (std::thread& helper : helpers) helper.join();
}

}  // namespace ratchet::regionserver
