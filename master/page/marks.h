// Reasons why an answer from this master's memory may be stale or incomplete; shown with every view of its page.
#pragma once

#include <string>
#include <vector>

#include "master/rpc/master_services.h"

namespace ratchet::master {

// Returns the reasons; empty if none is known. Accesses no storage and no other process.
[[nodiscard]] std::vector<std::string> Marks(const ServiceEnv& env);

}  // namespace ratchet::master
