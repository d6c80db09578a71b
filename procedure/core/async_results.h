// The values of one state's asynchronous work (StepContext::AsyncCall).
#pragma once

#include <any>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "common/base/mutex.h"

namespace ratchet::procedure {

// Shared by the procedure and by the work in progress; outlives both. Thread-safe.
class AsyncResults : public std::enable_shared_from_this<AsyncResults> {
 public:
  // `wake` is called, without locks, after a value has arrived and until Forget.
  explicit AsyncResults(std::function<void()> wake) : wake_(std::move(wake)) {}

  // Null while absent. Only the procedure's own step calls it; values are never removed while it runs.
  std::any* Value(std::string_view key);
  // Null when already begun.
  std::function<void(std::any)> Begin(std::string_view key);
  void ForgetKey(std::string_view key);
  // Late results are ignored from now on.
  void Forget();
  // How many values have arrived so far; compared before and after, so that no arrival is missed.
  [[nodiscard]] std::uint64_t arrivals() const;
  // The keys whose value has not arrived: "meta-write, open-rpc".
  [[nodiscard]] std::string Pending() const;

 private:
  struct Slot {
    std::uint64_t generation = 0;
    std::any value;
  };
  void Arrive(const std::string& key, std::uint64_t generation, std::any value);

  mutable Mutex mutex_;
  std::function<void()> wake_ GUARDED_BY(mutex_);
  std::map<std::string, Slot, std::less<>> slots_ GUARDED_BY(mutex_);
  std::uint64_t arrivals_ GUARDED_BY(mutex_) = 0;
  std::uint64_t generations_ GUARDED_BY(mutex_) = 0;
};

}  // namespace ratchet::procedure
