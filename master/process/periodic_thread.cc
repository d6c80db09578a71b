#include "master/process/periodic_thread.h"

#include <utility>

#include "common/base/thread_name.h"

namespace ratchet::master {

PeriodicThread::PeriodicThread(std::string name, Millis interval, std::function<void()> work)
    : name_(std::move(name)), interval_(interval), work_(std::move(work)), thread_([this] { Run(); }) {}

PeriodicThread::~PeriodicThread() { Stop(); }

void PeriodicThread::Stop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

void PeriodicThread::Run() {
  SetThreadName(name_);
  while (true) {
    {
      const MutexLock lock(mutex_);
      if (!stopping_) changed_.WaitFor(mutex_, interval_);
      if (stopping_) return;
    }
    work_();
  }
}

}  // namespace ratchet::master
