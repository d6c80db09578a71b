// A pulse: asks a process for a sign of life that no handler thread delays.
//
// The method of a pulse does not exist, so the I/O thread of the process that is asked refuses the call at once. The
// refusal is the sign of life, from every version. A process with busy handlers, or with a storage that hangs, gives it
// as well.
#pragma once

#include <cstdint>
#include <functional>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/rpc/channel_pool.h"

namespace ratchet::rpc {

enum class PulseEnd : std::uint8_t {
  kAnswered,
  kSilent,   // nothing arrived in time, not even the end of the connection
  kUnclear,  // everything else: refused, reset, or this process was late itself
};

// Delay of this process above which its own finding of silence is worthless.
inline constexpr Millis kPulseLate{100};

// `took`: from the start of the call to its end.
[[nodiscard]] PulseEnd JudgePulse(const Status& reply, Millis took, Millis patience);

// Asks the process at this address; `done` as Channel::Call.
void SendPulse(ChannelPool& channels, const Endpoint& endpoint, Millis patience, std::function<void(PulseEnd)> done);
// Blocks for about `patience`. Not on a thread of `channels`.
[[nodiscard]] PulseEnd SendPulseSync(ChannelPool& channels, const Endpoint& endpoint, Millis patience);

}  // namespace ratchet::rpc
