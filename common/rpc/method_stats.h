// Counts how often a method was called and how often it failed, and measures how long it took. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>

#include "common/base/latency.h"

namespace ratchet::rpc {

struct MethodStats {
  Latency took;                          // from the whole request to its answer, exceptions included
  std::atomic<std::uint64_t> errors{0};  // answered with an exception
};

}  // namespace ratchet::rpc
