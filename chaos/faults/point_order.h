// A named point of the programs and the action there (common/base/fault_point.h). Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace ratchet::chaos {

struct PointOrder {
  std::string name;    // "log.before_sync"
  std::string match;   // substring of the detail; empty: any
  std::string action;  // "crash", "fail", "pause", "delay:500"
  std::uint64_t skip = 0;
  bool operator==(const PointOrder&) const = default;
  // Returns the form for RATCHET_FAULTS.
  [[nodiscard]] std::string ToText() const;
};

// "log.before_sync", "executor.after_commit~ServerCrash:SEAL=crash@1"; kInvalidArgument describes the error.
[[nodiscard]] Result<PointOrder> ParsePoint(std::string_view text);
// "ServerCrash:SPLIT_LOG@2" -> executor.before_commit~ServerCrash:SPLIT_LOG=crash@2
[[nodiscard]] Result<PointOrder> ParseStep(std::string_view text);
}  // namespace ratchet::chaos
