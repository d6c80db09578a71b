// ProcessObject: the one object of its type that a whole program shares, such as its TLS. Null until it is set.
//
// It is never destroyed, because threads may use it until the process ends. Thread-safe.
#pragma once

#include <memory>
#include <utility>

#include "common/base/mutex.h"

namespace ratchet {

template <class T>
class ProcessObject {
 public:
  [[nodiscard]] static std::shared_ptr<T> Get() {
    Holder& holder = TheHolder();
    const MutexLock lock(holder.mutex);
    return holder.object;
  }
  static void Set(std::shared_ptr<T> object) {
    Holder& holder = TheHolder();
    const MutexLock lock(holder.mutex);
    holder.object = std::move(object);
  }

 private:
  struct Holder {
    Mutex mutex;
    std::shared_ptr<T> object GUARDED_BY(mutex);
  };
  static Holder& TheHolder() {
    static Holder& holder = *new Holder;
    return holder;
  }
};

}  // namespace ratchet
