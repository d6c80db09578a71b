// Shows a watcher in another thread (a command line that informs its user) what a thread's operation on a connection
// waits for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "common/base/clock.h"
#include "common/base/mutex.h"

namespace ratchet::client {

// The request that an operation has sent, or is about to send: repeated with the same numbers it is executed once.
struct NonceOfRequest {
  std::uint64_t group = 0;
  std::uint64_t nonce = 0;
};

// Thread-safe. Only operations of the thread that made it are recorded, so that the watcher's own requests do not
// count.
class Activity {
 public:
  struct View {
    bool active = false;
    Millis for_ms{0};                     // age of this operation
    std::string attempt;                  // "asking the master h:p (CreateTable)"
    std::string obstacle;                 // why the last attempt failed; empty: no failure
    std::optional<std::uint64_t> pid;     // the procedure that the operation waits for, or submitted last
    std::optional<NonceOfRequest> nonce;  // of the last request that carried one
  };

  explicit Activity(const Clock& clock) : clock_(clock), owner_(std::this_thread::get_id()) {}

  [[nodiscard]] View Look() const;

  // For the other parts of this library.
  void Begin();
  void End();
  void Attempt(std::string_view what);
  void Failed(std::string_view why);
  void Submitting(NonceOfRequest nonce);
  void Submitted(std::uint64_t pid);

 private:
  [[nodiscard]] bool Mine() const { return std::this_thread::get_id() == owner_; }

  const Clock& clock_;
  const std::thread::id owner_;
  mutable Mutex mutex_;
  View view_ GUARDED_BY(mutex_);
  int depth_ GUARDED_BY(mutex_) = 0;
  TimePoint began_ GUARDED_BY(mutex_);
};

// Marks one operation, from its first attempt to its end. `activity` may be null.
class ActivityMark {
 public:
  explicit ActivityMark(Activity* activity) : activity_(activity) {
    if (activity_ != nullptr) activity_->Begin();
  }
  ~ActivityMark() {
    if (activity_ != nullptr) activity_->End();
  }
  ActivityMark(const ActivityMark&) = delete;
  ActivityMark& operator=(const ActivityMark&) = delete;
  void Attempt(std::string_view what) {
    if (activity_ != nullptr) activity_->Attempt(what);
  }
  void Failed(std::string_view why) {
    if (activity_ != nullptr) activity_->Failed(why);
  }

 private:
  Activity* const activity_;
};

}  // namespace ratchet::client
