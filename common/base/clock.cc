#include "common/base/clock.h"

#include <cstdlib>
#include <map>
#include <thread>
#include <unordered_map>
#include <utility>

#include "common/base/mutex.h"
#include "common/base/thread_name.h"

namespace ratchet {

TimePoint SystemClock::Now() const { return std::chrono::steady_clock::now(); }

namespace {

// A wall clock that is wrong on purpose, for a whole process (tests of S5: rising start code; S27: rising timestamps).
std::int64_t OffsetFromEnvironment() {
  const char* text = std::getenv("RATCHET_CLOCK_OFFSET_MS");
  return text == nullptr ? 0 : std::strtoll(text, nullptr, 10);
}

}  // namespace

std::int64_t SystemClock::WallMillis() const {
  static const std::int64_t offset = OffsetFromEnvironment();
  return std::chrono::duration_cast<Millis>(std::chrono::system_clock::now().time_since_epoch()).count() + offset;
}

namespace {

class ThreadTimers final : public Timers {
 public:
  ThreadTimers() : thread_([this] { Run(); }) {}
  ~ThreadTimers() override {
    {
      MutexLock lock(mutex_);
      stopping_ = true;
    }
    wake_.NotifyAll();
    thread_.join();
  }

  Handle After(Millis delay, std::function<void()> callback) override {
    MutexLock lock(mutex_);
    const Handle handle = ++last_handle_;
    const auto due = std::chrono::steady_clock::now() + delay;
    queue_.emplace(std::pair(due, handle), std::move(callback));
    due_.emplace(handle, due);
    wake_.NotifyAll();
    return handle;
  }

  bool Cancel(Handle handle) override {
    MutexLock lock(mutex_);
    const auto found = due_.find(handle);
    if (found == due_.end()) return false;
    queue_.erase(std::pair(found->second, handle));
    due_.erase(found);
    return true;
  }

 private:
  using Due = std::chrono::steady_clock::time_point;

  void Run() {
    SetThreadName("timers");
    mutex_.Lock();
    while (!stopping_) {
      if (queue_.empty()) {
        wake_.Wait(mutex_);
        continue;
      }
      const auto now = std::chrono::steady_clock::now();
      const auto first = queue_.begin();
      if (first->first.first > now) {
        wake_.WaitFor(mutex_, first->first.first - now);
        continue;
      }
      auto callback = std::move(first->second);
      due_.erase(first->first.second);
      queue_.erase(first);
      mutex_.Unlock();
      callback();
      callback = nullptr;
      mutex_.Lock();
    }
    mutex_.Unlock();
  }

  Mutex mutex_;
  CondVar wake_;
  bool stopping_ GUARDED_BY(mutex_) = false;
  Handle last_handle_ GUARDED_BY(mutex_) = 0;
  std::map<std::pair<Due, Handle>, std::function<void()>> queue_ GUARDED_BY(mutex_);
  std::unordered_map<Handle, Due> due_ GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace

std::unique_ptr<Timers> MakeThreadTimers() { return std::make_unique<ThreadTimers>(); }

}  // namespace ratchet
