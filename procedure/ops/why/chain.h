// Follows one thing that waits down to its cause: a pure function of the facts. It always ends: a procedure that occurs
// a second time is a deadlock, which is a cause of its own.
#pragma once

#include <optional>
#include <string>

#include "common/model/proto/why.pb.h"
#include "procedure/ops/why/facts.h"

namespace ratchet::host {

// nullopt: the procedure does not wait.
[[nodiscard]] std::optional<ratchet::pb::WhyChain> ChainOfProcedure(const WhyFacts& facts, ProcId pid);
// nullopt: the server answers and is not behind.
[[nodiscard]] std::optional<ratchet::pb::WhyChain> ChainOfServer(const WhyFacts& facts, const std::string& server);
// nullopt: the region is served, or offline as its table requires.
[[nodiscard]] std::optional<ratchet::pb::WhyChain> ChainOfRegion(const WhyFacts& facts, const std::string& encoded);

inline constexpr const char* kMakeRoom = "make room on the disk below the root";

// The duration of the first link.
[[nodiscard]] std::uint64_t AgeOf(const ratchet::pb::WhyChain& chain);
// Describes workers that are blocked in steps that do not end; nullopt while there are none.
[[nodiscard]] std::optional<std::string> HeldWorkersText(const procedure::WorkersInfo& workers);
// Describes steps that hold no worker and whose own work does not end; nullopt while there are none.
[[nodiscard]] std::optional<std::string> StayingStepsText(const procedure::WorkersInfo& workers);
// "41.0 s", "320 ms", "12 min".
[[nodiscard]] std::string WhyAge(std::uint64_t ms);

}  // namespace ratchet::host
