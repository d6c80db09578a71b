// The phases in which a second fault can meet the cluster: steps of a crash, of a master's activation, and of the
// procedures that change regions and tables. Pure; any thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/model/proto/ratchet.pb.h"

namespace ratchet::chaos {

struct Phase {
  std::string_view type;  // of the procedure; kActivationType for an activation
  std::string_view step;
  // True if a run can lead the cluster into this phase at will. Other phases are counted when a fault meets them.
  bool provoked = true;
  bool operator==(const Phase&) const = default;
};

inline constexpr std::string_view kActivationType = "Activation";

// Returns all phases by type, in the order in which the steps run.
[[nodiscard]] std::span<const Phase> AllPhases();
[[nodiscard]] std::string PhaseName(const Phase& phase);  // "ServerCrash:FENCE"
// True for a type of procedure that has phases.
[[nodiscard]] bool HasPhases(std::string_view type);

// The phase of a procedure that has not ended; nullopt when its type has no phases. A procedure that waits for its
// children is in the step that created them, which only its history shows.
[[nodiscard]] std::optional<Phase> PhaseOf(const pb::ProcedureInfo& procedure);

// A master that holds each phase for `milliseconds`: the value of RATCHET_FAULTS.
[[nodiscard]] std::string HoldPhases(std::int64_t milliseconds);

}  // namespace ratchet::chaos
