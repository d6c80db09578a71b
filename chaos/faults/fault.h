// One way of breaking a cluster.
//
// A fault picks its victims from the seeded source, breaks them, and proves that it took effect (process state, packet
// counter, errno seen): a fault that cannot show it is an error and does not count (HBase's own driver once went on for
// hours without breaking anything, HBASE-26984). Used by the driver's one thread.
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

// What a fault did. `kind` groups the figures of the report ("kill-meta-holder").
struct FaultRecord {
  std::string kind;
  std::vector<std::string> victims;  // process names, or links "rs-1 -> zookeeper"
  std::string evidence;              // how it is known that it happened
  bool kills_master = false;         // counts for the guard "half of the master kills hit something unfinished"
  TimePoint injected;
  std::optional<TimePoint> healed;
  std::uint64_t unfinished_pid =
      0;  // a procedure that is known to have been unfinished when its master was killed; 0: none
};

class Fault {
 public:
  static constexpr std::string_view kAnyTarget = "any target";
  Fault() = default;
  virtual ~Fault() = default;
  Fault(const Fault&) = delete;
  Fault& operator=(const Fault&) = delete;

  [[nodiscard]] virtual std::string_view kind() const = 0;
  // What it takes, for users that choose: targets, privileges, machinery. Unavailable decides.
  [[nodiscard]] virtual std::string_view Needs() const { return kAnyTarget; }
  // Why this fault cannot be done on this target or without more privileges; nothing when it can.
  [[nodiscard]] virtual std::optional<std::string> Unavailable(Target& target) = 0;
  // Breaks. After an error nothing is broken any more.
  [[nodiscard]] virtual Result<FaultRecord> Inject(Target& target, Prng& prng) = 0;
  // Asked after Inject. How long the driver lets it last before it heals, drawn from the seed; nothing for what is over
  // at once.
  [[nodiscard]] virtual std::optional<Millis> Duration(Prng& prng) = 0;
  // Puts right what Inject broke: restarts, resumes, reconnects. Idempotent.
  [[nodiscard]] virtual Status Heal(Target& target) = 0;
};

// Further kinds carry a parameter after a colon and are not listed by FaultKinds():
//   "at:NAME[~match][=action][@skip]"  a victim is restarted with this fault point armed (fault_point.h); default crash
//   "step:TYPE:STEP[@n]"               the master dies before its n-th commit of this step of this procedure type
// All kinds by name; kInvalid, naming those that exist, for an unknown one.
[[nodiscard]] std::vector<std::string_view> FaultKinds();
[[nodiscard]] Result<std::unique_ptr<Fault>> MakeFault(std::string_view kind);

}  // namespace ratchet::chaos
