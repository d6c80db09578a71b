// The files of identity of a cluster that ratchet-chaos has secured (chaos/cluster/credentials.h): a process reads them
// again after SIGHUP, and its log shows the result. For faults, on the driver's thread.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/faults/target.h"
#include "common/base/result.h"

namespace ratchet::chaos {

inline constexpr const char* kNeedsSecured = "a local cluster with --secure";

[[nodiscard]] std::optional<std::string> WhyNotSecured(Target& target);

[[nodiscard]] Result<std::string> TextOf(const std::filesystem::path& path);

// Each of these processes that runs reads its files again. Waits until the log of each has `line` or the process has
// ended; an empty line: waits for nothing.
[[nodiscard]] Status ReadAgain(Target& target, const std::vector<std::string>& processes, std::string_view line);

}  // namespace ratchet::chaos
