// One descriptor that is reserved for an operation that must not fail because none is free: a sync that failed ends the
// process, S6 (failed sync ends the process).
#pragma once

#include <fcntl.h>

#include "common/base/mutex.h"
#include "common/io/file_descriptor.h"

namespace ratchet::io {

// Thread-safe.
class SpareDescriptor {
 public:
  static SpareDescriptor& OfProcess() {
    static auto* const spare = new SpareDescriptor;  // never freed: threads may use it during exit
    return *spare;
  }
  // Runs `action` while the spare number is free for the descriptor that it opens; it must close that descriptor. One
  // at a time.
  template <class Action>
  auto While(Action action) {
    MutexLock lock(mutex_);
    { const FileDescriptor given = std::move(fd_); }
    auto result = action();
    fd_ = Take();
    return result;
  }

 private:
  SpareDescriptor() : fd_(Take()) {}
  static FileDescriptor Take() { return FileDescriptor(::open("/", O_PATH | O_CLOEXEC)); }

  Mutex mutex_;
  FileDescriptor fd_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::io
