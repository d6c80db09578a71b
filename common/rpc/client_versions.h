// Counts the open connections by the version that clients name in their connection header.
//
// Thread-safe. Bounded: of more than kMostVersions different versions the later ones count as "other", so no client
// makes the list long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "common/base/mutex.h"
#include "common/base/printable.h"

namespace ratchet::rpc {

inline constexpr std::size_t kMostVersions = 32;
inline constexpr std::size_t kMostVersionText = 40;        // characters that are kept of one
inline constexpr std::string_view kNoVersion = "unnamed";  // the header has none
inline constexpr std::string_view kOtherVersions = "other";

class ClientVersions {
 public:
  using Counts = std::map<std::string, std::uint64_t, std::less<>>;

  // `version`: as the header has it; empty: none. Returns the name under which the connection counts, for Remove.
  std::string Add(std::string_view version) {
    std::string name = version.empty() ? std::string(kNoVersion) : PrintableText(version.substr(0, kMostVersionText));
    const MutexLock lock(mutex_);
    if (!counts_.contains(name) && counts_.size() >= kMostVersions) name = kOtherVersions;
    ++counts_[name];
    return name;
  }
  void Remove(const std::string& name) {
    const MutexLock lock(mutex_);
    const auto found = counts_.find(name);
    if (found != counts_.end() && --found->second == 0) counts_.erase(found);
  }
  [[nodiscard]] Counts Look() const {
    const MutexLock lock(mutex_);
    return counts_;
  }

 private:
  mutable Mutex mutex_;
  Counts counts_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::rpc
