// Problems of this server that an operator must see: the server reports them in each heartbeat, and the master shows
// them in `ratchet status`. Thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"

namespace ratchet::regionserver {

class TroubleBook {
 public:
  static constexpr std::size_t kMost = 50;           // later problems are only counted
  static constexpr std::size_t kMostText = 2 << 10;  // maximum bytes of one text

  explicit TroubleBook(Clock& clock) : clock_(clock) {}

  // Shows the problem until `keep` has passed without another Note of this key.
  void Note(const std::string& key, std::string text, Millis keep) {
    if (text.size() > kMostText) text.resize(kMostText);
    MutexLock lock(mutex_);
    const TimePoint now = clock_.Now();
    DropOld(now);
    if (entries_.size() >= kMost && !entries_.contains(key)) {
      ++left_out_;
      return;
    }
    entries_[key] = {std::move(text), now + keep};
  }
  // Removes a problem that is solved.
  void Clear(const std::string& key) {
    MutexLock lock(mutex_);
    entries_.erase(key);
  }
  void ClearAll(const std::string& prefix) {
    MutexLock lock(mutex_);
    std::erase_if(entries_, [&prefix](const auto& entry) { return entry.first.starts_with(prefix); });
  }
  [[nodiscard]] std::vector<std::string> List() {
    MutexLock lock(mutex_);
    DropOld(clock_.Now());
    std::vector<std::string> texts;
    for (const auto& [key, entry] : entries_) texts.push_back(entry.text);
    if (left_out_ > 0 && entries_.size() >= kMost) texts.push_back(std::to_string(left_out_) + " more, see the log");
    return texts;
  }

 private:
  struct Entry {
    std::string text;
    TimePoint until{};
  };
  void DropOld(TimePoint now) REQUIRES(mutex_) {
    std::erase_if(entries_, [now](const auto& entry) { return entry.second.until <= now; });
    if (entries_.size() < kMost) left_out_ = 0;
  }

  Clock& clock_;
  Mutex mutex_;
  std::map<std::string, Entry> entries_ GUARDED_BY(mutex_);
  std::size_t left_out_ GUARDED_BY(mutex_) = 0;
};

}  // namespace ratchet::regionserver
