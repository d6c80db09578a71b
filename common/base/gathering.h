// Puts work off that several callbacks of one thread would each do, so that it is done once for all of them: the log's
// thread answers all entries of a batch, and each connection then sends its answers in one system call.
//
// Not thread-safe: a scope belongs to its thread.
#pragma once

#include <functional>
#include <utility>
#include <vector>

namespace ratchet {

// While it exists, its thread gathers; its destructor does the gathered work, in order. Scopes do not nest: an inner
// one has no effect.
class Gathering {
 public:
  Gathering() : outermost_(current == nullptr) {
    if (outermost_) current = this;
  }
  ~Gathering() {
    if (outermost_) End();
  }
  Gathering(const Gathering&) = delete;
  Gathering& operator=(const Gathering&) = delete;

  // Ends the gathering of this thread early, if there is any: does the gathered work.
  static void End() {
    Gathering* const ended = std::exchange(current, nullptr);
    if (ended == nullptr) return;
    for (const std::function<void()>& work : ended->work_) work();
    ended->work_.clear();
  }
  // Returns false, without calling `work`, if this thread does not gather.
  static bool Add(std::function<void()> work) {
    if (current == nullptr) return false;
    current->work_.push_back(std::move(work));
    return true;
  }

 private:
  static thread_local constinit inline Gathering* current = nullptr;
  const bool outermost_;
  std::vector<std::function<void()>> work_;
};

}  // namespace ratchet
