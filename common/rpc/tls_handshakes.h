// The TLS handshakes in progress at a server: bounded in number, and computed on threads of their own, so that a flood
// of them delays no request. Internal.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/rpc/io_threads.h"

namespace ratchet::rpc {

// Thread-safe. Has no threads before the first handshake.
class TlsHandshakes {
 public:
  static constexpr std::size_t kMost = 512;
  static constexpr std::size_t kMostOfAddress = 64;
  static constexpr std::size_t kKeptForMembers = 64;  // of kMost: for addresses at which members have proven themselves
  static constexpr std::size_t kMostMemberAddresses = 1'000;
  static constexpr Millis kWithin{5'000};
  static constexpr int kThreads = 2;

  explicit TlsHandshakes(std::string name) : name_(std::move(name)) {}

  // Returns false if too many are in progress. Every true is followed by one Leave.
  [[nodiscard]] bool Enter(const std::string& address);
  void Leave(const std::string& address);
  void NoteMember(const std::string& address);
  // Runs `work` on one of the threads; drops it after Stop.
  void Post(std::function<void()> work);
  // Waits for the running work, and drops the rest.
  void Stop();

 private:
  const std::string name_;
  Mutex mutex_;
  std::size_t running_ GUARDED_BY(mutex_) = 0;
  std::map<std::string, std::size_t> of_address_ GUARDED_BY(mutex_);
  std::set<std::string> members_ GUARDED_BY(mutex_);
  bool stopped_ GUARDED_BY(mutex_) = false;
  std::unique_ptr<IoThreads> threads_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::rpc
