#include "common/client/activity.h"

namespace ratchet::client {

Activity::View Activity::Look() const {
  MutexLock lock(mutex_);
  View view = view_;
  view.active = depth_ > 0;
  if (view.active) view.for_ms = std::chrono::duration_cast<Millis>(clock_.Now() - began_);
  return view;
}

void Activity::Begin() {
  if (!Mine()) return;
  MutexLock lock(mutex_);
  if (depth_++ > 0) return;
  began_ = clock_.Now();
  view_.attempt.clear();
  view_.obstacle.clear();
}

void Activity::End() {
  if (!Mine()) return;
  MutexLock lock(mutex_);
  --depth_;
}

void Activity::Attempt(std::string_view what) {
  if (!Mine()) return;
  MutexLock lock(mutex_);
  view_.attempt = what;
}

void Activity::Failed(std::string_view why) {
  if (!Mine()) return;
  MutexLock lock(mutex_);
  view_.obstacle = why;
}

void Activity::Submitting(NonceOfRequest nonce) {
  if (!Mine()) return;
  MutexLock lock(mutex_);
  view_.nonce = nonce;
  view_.pid.reset();
}

void Activity::Submitted(std::uint64_t pid) {
  if (!Mine()) return;
  MutexLock lock(mutex_);
  view_.pid = pid;
}

}  // namespace ratchet::client
