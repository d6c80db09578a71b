// A typed reference to the environment that the host gives its procedures (the master's environment, a test's journal).
#pragma once

#include <typeinfo>

#include "common/base/check.h"

namespace ratchet::procedure {

// Does not own the object. It is a programming error to ask for another type than the one that was stored.
class EnvRef {
 public:
  EnvRef() = default;
  template <class T>
  static EnvRef Of(T& env) {
    EnvRef ref;
    ref.env_ = &env;
    ref.type_ = &typeid(T);
    return ref;
  }
  template <class T>
  [[nodiscard]] T& As() const {
    RATCHET_CHECK(type_ != nullptr && *type_ == typeid(T), "environment is {}, not {}",
                  type_ == nullptr ? "absent" : type_->name(), typeid(T).name());
    return *static_cast<T*>(env_);
  }

 private:
  void* env_ = nullptr;
  const std::type_info* type_ = nullptr;
};

}  // namespace ratchet::procedure
