// PartLock: the lock of a part that holds no lock while it calls another part (master/README.md, "Threads").
//
// Builds with mutants check this: a thread that holds one PartLock may neither take another one nor call
// ExpectNoPartLock. A violation stops the process, or is recorded for a test (RecordedPartLocks). In other builds a
// PartLock is a MutexLock.
#pragma once

#include <string>
#include <vector>

#include "common/base/mutex.h"

namespace ratchet {

#if defined(RATCHET_MUTANTS)

// A line of the code. (clang 14 lacks std::source_location.)
struct CodeLine {
  const char* file = "";
  int line = 0;
};

// Called before the thread takes the lock of a part (`at`), and when it has released the lock.
void EnterPart(CodeLine at);
void LeavePart();
// Called where a part is entered that has another kind of lock; `part` names it.
void ExpectNoPartLock(const char* part);

// While it exists, violations of all threads are recorded and do not stop the process. One at a time.
class RecordedPartLocks {
 public:
  RecordedPartLocks();
  ~RecordedPartLocks();
  RecordedPartLocks(const RecordedPartLocks&) = delete;
  RecordedPartLocks& operator=(const RecordedPartLocks&) = delete;
  // Each names the part that was called and the place where the held lock was taken.
  [[nodiscard]] std::vector<std::string> violations() const;
};

class SCOPED_CAPABILITY PartLock {
 public:
  explicit PartLock(Mutex& mutex, const char* file = __builtin_FILE(), int line = __builtin_LINE()) ACQUIRE(mutex)
      : mutex_(mutex) {
    EnterPart({file, line});
    mutex_.Lock();
  }
  ~PartLock() RELEASE() {
    mutex_.Unlock();
    LeavePart();
  }
  PartLock(const PartLock&) = delete;
  PartLock& operator=(const PartLock&) = delete;

 private:
  Mutex& mutex_;
};

#else

inline void ExpectNoPartLock(const char* /*part*/) {}
using PartLock = MutexLock;

#endif

}  // namespace ratchet
