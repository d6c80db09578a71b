// Faults by signals to whole processes: kill -9 with a later restart, pause and resume, swizzle.
#pragma once

#include <memory>
#include <string_view>

#include "chaos/faults/fault.h"
#include "chaos/faults/victims.h"

namespace ratchet::chaos {

enum class ProcessVerb { kKill, kPause };

// Bounds of a duration, in ms or in hundredths of the session timeout.
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
  Millis largest_gap{0};  // between two victims, at the begin and at the end (swizzle)
};

// Returns null if the kind is not a process fault.
[[nodiscard]] std::unique_ptr<Fault> MakeProcessFault(std::string_view kind);
[[nodiscard]] std::vector<std::string_view> ProcessFaultKinds();

}  // namespace ratchet::chaos
