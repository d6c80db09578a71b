// From one thing that waits down to its cause: a pure function of the facts. It ends always: a procedure that comes up
// a second time is a ring, which is a cause of its own.
#pragma once

#include <optional>
#include <string>

#include "common/model/proto/why.pb.h"
#include "procedure/host/why/facts.h"

namespace ratchet::host {

// Nothing: the procedure does not wait.
[[nodiscard]] std::optional<ratchet::pb::WhyChain> ChainOfProcedure(const WhyFacts& facts, ProcId pid);
// Nothing: the server answers and is not behind.
[[nodiscard]] std::optional<ratchet::pb::WhyChain> ChainOfServer(const WhyFacts& facts, const std::string& server);
// Nothing: the region is served, or at rest as its table wants.
[[nodiscard]] std::optional<ratchet::pb::WhyChain> ChainOfRegion(const WhyFacts& facts, const std::string& encoded);

inline constexpr const char* kMakeRoom = "make room on the disk below the root";

// How long the first link has lasted.
[[nodiscard]] std::uint64_t AgeOf(const ratchet::pb::WhyChain& chain);
// Of workers that are held by steps which do not end; nothing while none is.
[[nodiscard]] std::optional<std::string> HeldWorkersText(const procedure::WorkersInfo& workers);
// "41.0 s", "320 ms", "12 min".
[[nodiscard]] std::string WhyAge(std::uint64_t ms);

}  // namespace ratchet::host
