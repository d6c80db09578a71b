// The causes at which a chain of `ratchet why` ends. docs/stuck.md describes each.
#pragma once

#include <cstdint>
#include <string_view>

namespace ratchet {

enum class WhyCause : std::uint8_t {
  kActiveElsewhere,
  kBackoff,
  kClock,
  kConnection,
  kDamagedFile,
  kDifference,
  kDisk,
  kFailedOpen,
  kGoesOn,
  kGone,
  kHeldLock,
  kLimit,
  kMasterRefused,
  kNoActiveMaster,
  kNoProcedure,
  kNoServer,
  kNotAMember,
  kOutside,
  kParked,
  kPaused,
  kReplication,
  kRing,
  kRunning,
  kServerDead,
  kSilentServer,
  kSpace,
  kStarting,
  kStopping,
  kStore,
  kStrangerNode,
  kUnanswered,
  kUndoFails,
  kZooKeeper,
};

// The word in WhyChain.cause, which clients and scripts compare.
[[nodiscard]] std::string_view WhyCauseText(WhyCause cause);

}  // namespace ratchet
