// Shell completion.
#pragma once

#include <string>
#include <vector>

namespace ratchet::cli {

// A bash script that completes the subcommands, and table names where a table is expected.
[[nodiscard]] std::string BashCompletion(const std::vector<std::string>& commands);

}  // namespace ratchet::cli
