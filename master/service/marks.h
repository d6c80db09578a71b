// What makes an answer from this master's memory less than the whole truth: said beside every view of its page.
#pragma once

#include <string>
#include <vector>

#include "master/service/master_services.h"

namespace ratchet::master {

// Empty: nothing is known that the answer would have to be marked with. Touches no storage and no other process.
[[nodiscard]] std::vector<std::string> Marks(const ServiceEnv& env);

}  // namespace ratchet::master
