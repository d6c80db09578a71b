#include "master/process/periodic_thread.h"

#include <utility>

#include "common/base/thread_name.h"

namespace ratchet::master {

PeriodicThread::PeriodicThread(std::string name, Live<Millis> interval, std::function<void()> work)
    : name_(std::move(name)), interval_(std::move(interval)), work_(std::move(work)), thread_([this] { Run(); }) {}

PeriodicThread::~PeriodicThread() { Stop(); }

void PeriodicThread::Stop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

bool PeriodicThread::RunSoon(std::function<void(bool ran)> done) {
  const MutexLock lock(mutex_);
  if (stopping_ || waiting_.size() >= kMostWaiting) return false;
  waiting_.push_back(std::move(done));
  changed_.NotifyAll();
  return true;
}

void PeriodicThread::Run() {
  SetThreadName(name_);
  bool stopping = false;
  while (!stopping) {
    std::vector<std::function<void(bool)>> asked;
    {
      const MutexLock lock(mutex_);
      if (!stopping_ && waiting_.empty()) changed_.WaitFor(mutex_, interval_.Get());
      stopping = stopping_;
      asked.swap(waiting_);
    }
    if (!stopping) work_();
    for (const auto& done : asked) done(!stopping);
  }
}

}  // namespace ratchet::master
