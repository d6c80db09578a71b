// One way of breaking a cluster.
//
// A fault picks its victims from the seeded source, breaks them, and proves that it took effect (process state, packet
// counter, errno). A fault without proof is an error and does not count: HBase's own driver once ran for hours without
// breaking anything (HBASE-26984). Used by the driver's one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.h"
#include "common/base/prng.h"
#include "common/base/result.h"

namespace ratchet::chaos {

class Target;

// The record of a fault. `kind` groups the figures of the report ("kill-meta-holder").
struct FaultRecord {
  std::string kind;
  std::vector<std::string> victims;  // process names, or links "rs-1 -> zookeeper"
  std::string evidence;              // the proof that it happened
  bool kills_master = false;         // counts for the guard "half of the master kills hit something unfinished"
  TimePoint injected;
  std::optional<TimePoint> healed;
  std::uint64_t unfinished_pid =
      0;                 // a procedure that is known to have been unfinished when its master was killed; 0: none
  std::string second{};  // the fault that was injected in a phase; empty: none
  std::string phase{};   // PhaseName (chaos/report/phases.h)
};

class Fault {
 public:
  static constexpr std::string_view kAnyTarget = "any target";
  Fault() = default;
  virtual ~Fault() = default;
  Fault(const Fault&) = delete;
  Fault& operator=(const Fault&) = delete;

  [[nodiscard]] virtual std::string_view kind() const = 0;
  // The requirements for users: targets, privileges, tools. Unavailable decides.
  [[nodiscard]] virtual std::string_view Needs() const { return kAnyTarget; }
  // Returns why this fault is impossible on this target or needs more privileges; nullopt when it is possible.
  [[nodiscard]] virtual std::optional<std::string> Unavailable(Target& target) = 0;
  // Breaks the victims. After an error it has undone its changes.
  [[nodiscard]] virtual Result<FaultRecord> Inject(Target& target, Prng& prng) = 0;
  // Called after Inject. Returns the time before the driver heals the fault, drawn from the seed; nullopt for an
  // instantaneous fault.
  [[nodiscard]] virtual std::optional<Millis> Duration(Prng& prng) = 0;
  // Repairs what Inject broke: restarts, resumes, reconnects. Idempotent.
  [[nodiscard]] virtual Status Heal(Target& target) = 0;
};

// Other kinds have a parameter after a colon and are not in FaultKinds():
//   "at:NAME[~match][=action][@skip]"  a victim is restarted with this fault point armed (fault_point.h); default crash
//   "lose-piece:PIECE"                 one of the pieces (lose_piece.cc), "logs-away" for example
//   "step:TYPE:STEP[@n]"               the master dies before its n-th commit of this step of this procedure type
// Faults by the names of their kinds; kInvalidArgument for an unknown one lists the existing ones.
[[nodiscard]] std::vector<std::string_view> FaultKinds();
[[nodiscard]] Result<std::unique_ptr<Fault>> MakeFault(std::string_view kind);

}  // namespace ratchet::chaos
