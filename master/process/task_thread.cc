#include "master/process/task_thread.h"

#include <utility>

#include "common/base/log.h"
#include "common/base/thread_name.h"

namespace ratchet::master {

TaskThread::TaskThread(std::string name, std::size_t most_waiting)
    : name_(std::move(name)), most_waiting_(most_waiting), thread_([this] { Work(); }) {}

TaskThread::~TaskThread() { Stop(); }

bool TaskThread::Run(std::function<void()> work) {
  {
    const MutexLock lock(mutex_);
    if (stopping_) return false;
    if (waiting_.size() < most_waiting_) {
      waiting_.push_back(std::move(work));
      changed_.NotifyAll();
      return true;
    }
  }
  RATCHET_LOG(kWarn, "thread {1} refuses a task, because {0} tasks are waiting", most_waiting_, name_);
  return false;
}

void TaskThread::Work() {
  SetThreadName(name_);
  while (true) {
    std::function<void()> work;
    {
      const MutexLock lock(mutex_);
      while (!stopping_ && waiting_.empty()) changed_.Wait(mutex_);
      if (stopping_) return;
      work = std::move(waiting_.front());
      waiting_.pop_front();
    }
    work();
  }
}

void TaskThread::Stop() {
  std::deque<std::function<void()>> dropped;
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    dropped.swap(waiting_);
    changed_.NotifyAll();
  }
  dropped.clear();
  if (thread_.joinable()) thread_.join();
}

}  // namespace ratchet::master
