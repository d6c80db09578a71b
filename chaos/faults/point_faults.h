// Faults at named points of the programs (common/base/fault_point.h): a victim is started again with the point armed,
// and then given a reason to come by. That it died there, or said in its log that it stopped there, is the evidence.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "chaos/faults/fault.h"

namespace ratchet::chaos {

struct PointOrder {
  std::string name;    // "log.before_sync"
  std::string match;   // of the detail; empty: all
  std::string action;  // "crash", "fail", "pause", "delay:500"
  std::uint64_t skip = 0;
  bool operator==(const PointOrder&) const = default;
  // As RATCHET_FAULTS takes it.
  [[nodiscard]] std::string ToText() const;
};

// "log.before_sync", "executor.after_commit~ServerCrash:SEAL=crash@1"; kInvalidArgument names what is wrong.
[[nodiscard]] Result<PointOrder> ParsePoint(std::string_view text);
// "ServerCrash:SPLIT_LOG@2" -> executor.before_commit~ServerCrash:SPLIT_LOG=crash@2
[[nodiscard]] Result<PointOrder> ParseStep(std::string_view text);
// True when a master comes by there, false when a region server does.
[[nodiscard]] bool IsMastersPoint(const PointOrder& order);

// "fault-point" and "kill-at-step": which one is drawn from the seed.
[[nodiscard]] std::unique_ptr<Fault> MakeRandomPoint();
[[nodiscard]] std::unique_ptr<Fault> MakeRandomStep();
// "at:..." and "step:...".
[[nodiscard]] Result<std::unique_ptr<Fault>> MakePoint(std::string_view kind);

}  // namespace ratchet::chaos
