// Counters and durations per procedure type. Pure.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "procedure/api/views.h"

namespace ratchet::procedure {

class TypeMetricsTable {
 public:
  void Submitted(const std::string& type) { ++types_[type].submitted; }
  void Finished(const std::string& type, bool success, std::int64_t duration_ms) {
    Entry& entry = types_[type];
    ++(success ? entry.succeeded : entry.failed);
    const auto bucket = std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(duration_ms, 0)));
    ++entry.buckets[std::min<std::size_t>(static_cast<std::size_t>(bucket), kBuckets - 1)];
  }
  void HookFailed(const std::string& type) { ++types_[type].hook_errors; }
  [[nodiscard]] std::vector<TypeMetrics> List() const {
    std::vector<TypeMetrics> all;
    for (const auto& [type, entry] : types_) {
      all.push_back({type, entry.submitted, entry.succeeded, entry.failed, entry.hook_errors,
                     std::vector<std::uint64_t>(entry.buckets.begin(), entry.buckets.end())});
    }
    return all;
  }

 private:
  static constexpr std::size_t kBuckets = 32;
  struct Entry {
    std::uint64_t submitted = 0;
    std::uint64_t succeeded = 0;
    std::uint64_t failed = 0;
    std::uint64_t hook_errors = 0;
    std::array<std::uint64_t, kBuckets> buckets{};
  };
  std::map<std::string, Entry> types_;
};

}  // namespace ratchet::procedure
