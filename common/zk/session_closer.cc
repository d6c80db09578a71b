#include "common/zk/session_closer.h"

#include <system_error>
#include <utility>

#include "common/base/thread_name.h"

namespace ratchet::zk {

SessionCloser::~SessionCloser() {
  std::thread closing;
  {
    MutexLock lock(mutex_);
    closing = std::move(thread_);
  }
  if (closing.joinable()) closing.join();
}

bool SessionCloser::Close(Millis bound) {
  const auto until = std::chrono::steady_clock::now() + bound;
  MutexLock lock(mutex_);
  if (!closed_ && !thread_.joinable()) {
    try {
      thread_ = std::thread([this] {
        SetThreadName("zk-close");
        session_.Close();
        MutexLock done(mutex_);
        closed_ = true;
        changed_.NotifyAll();
      });
    } catch (const std::system_error&) {
      return false;  // no thread is available: the session ends by itself, a time-out after this process
    }
  }
  while (!closed_) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= until) return false;
    changed_.WaitFor(mutex_, until - now);
  }
  return true;
}

}  // namespace ratchet::zk
