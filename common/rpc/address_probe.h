// Finds out within a fraction of a second whether the process behind an address is gone.
//
// A process that ends closes its listening socket, and the operating system of its machine refuses connections from
// then on. That is a positive finding; silence is none. One accepted connection proves nothing: right after the end of
// a process a connection may still be accepted, so the process that accepts must answer with its name.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "common/base/clock.h"

namespace ratchet::rpc {

enum class ProbeFinding : std::uint8_t {
  kRefused,  // nothing listens at the address
  kSame,     // the process that was asked for answers
  kYounger,  // a later process of the same address answers
  kUnclear,  // everything else: time-out, reset, unreachable, an answer without the name
};

enum class ProbeVerdict : std::uint8_t { kGone, kAlive, kNoFinding };

// The schedule of one inquiry, and what its findings mean. Pure.
//
// A process is gone if its address refuses twice in a row, at least kApart apart, or if a younger process answers. An
// unclear finding between two refusals makes the first one worthless: a proxy that comes and goes looks like that.
class ProbeSeries {
 public:
  static constexpr std::array kAt{Millis{0}, Millis{3}, Millis{10}, Millis{30}, Millis{100}};  // after the start
  static constexpr Millis kApart{5};

  // Time of the next probe, counted from the start of the series. Call only while there is no verdict.
  [[nodiscard]] Millis next_at() const { return kAt[done_]; }
  // `at`: when the probe began, counted from the start of the series. Returns nullopt while the series continues.
  [[nodiscard]] std::optional<ProbeVerdict> Take(ProbeFinding finding, Millis at);

 private:
  std::size_t done_ = 0;
  std::optional<Millis> refused_at_;  // the first of the refusals in a row
};

// Runs a series on this thread. `probe` blocks; `pause` waits for a while, and false ends the series without a finding.
[[nodiscard]] ProbeVerdict RunProbeSeries(const Clock& clock, const std::function<ProbeFinding()>& probe,
                                          const std::function<bool(Millis)>& pause);

enum class ConnectOutcome : std::uint8_t { kRefused, kAccepted, kUnclear };

// Connects, closes at once, and waits for at most `patience`. Refused only where every address of the name refuses.
// Blocks; for a thread that may wait.
[[nodiscard]] ConnectOutcome TryConnect(const std::string& host, std::uint16_t port, Millis patience);

}  // namespace ratchet::rpc
