// Faults that are signals to whole processes: kill -9 with a later restart, pause and resume, swizzle.
#pragma once

#include <memory>
#include <string_view>

#include "chaos/faults/fault.h"
#include "chaos/faults/victims.h"

namespace ratchet::chaos {

enum class ProcessVerb { kKill, kPause };

// How long it lasts: between two bounds, in ms or in hundredths of the session time-out.
struct Lasting {
  std::int64_t least = 0;
  std::int64_t most = 0;
  bool of_session = false;
};

struct ProcessFaultKind {
  std::string_view kind;
  ProcessVerb verb;
  PickVictims pick;
  Lasting lasting;
  Millis largest_gap{0};  // between one victim and the next, at both ends (swizzle)
};

// Null for a kind that is not one of these.
[[nodiscard]] std::unique_ptr<Fault> MakeProcessFault(std::string_view kind);
[[nodiscard]] std::vector<std::string_view> ProcessFaultKinds();

}  // namespace ratchet::chaos
