// A setting that may change while the process runs, read at each use.
//
// Copies share one value: copies of options that are passed from the configuration to the part that uses them all show
// what a reload has set (config.h, Settings::Reload). Reading and setting: any thread, at any time.
#pragma once

#include <atomic>
#include <memory>

namespace ratchet {

template <class T>
class Live {
 public:
  Live(T value) : value_(std::make_shared<std::atomic<T>>(value)) {}  // NOLINT: options are initialised by plain values
  // Sets the value for all copies. Assigning another Live makes this one share that value from then on.
  Live& operator=(T value) {
    Set(value);
    return *this;
  }

  void Set(T value) { value_->store(value, std::memory_order_relaxed); }
  [[nodiscard]] T Get() const { return value_->load(std::memory_order_relaxed); }
  operator T() const { return Get(); }  // NOLINT: read as what it holds

 private:
  std::shared_ptr<std::atomic<T>> value_;
};

}  // namespace ratchet
