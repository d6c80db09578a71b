// The progress of a long verb, for a terminal. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/model/proto/ratchet.pb.h"

namespace ratchet::cli {

struct Progress {
  std::int64_t done = 0;
  std::int64_t total = 0;
};

// Returns the progress of a procedure: the parts of its work that it counts itself, else how many of its children have
// ended. nullopt: it has no parts.
[[nodiscard]] std::optional<Progress> ProgressOf(const pb::GetProcedureResponse& answer);

// "1200 of 3000 done, 40/s, about 45 s left": `done_before` parts were done `elapsed_ms` ago.
[[nodiscard]] std::string ProgressText(const Progress& progress, std::int64_t done_before, std::int64_t elapsed_ms);

// "about 45 s left"; empty while it is unknown.
[[nodiscard]] std::string LeftText(std::int64_t left, std::int64_t done, std::int64_t elapsed_ms);

}  // namespace ratchet::cli
