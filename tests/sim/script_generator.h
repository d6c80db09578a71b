// Random procedure trees: locks, children, failures, waits, time-outs, points of no return.
#pragma once

#include <string>

#include "common/base/prng.h"
#include "tests/support/script_procedure.h"

namespace ratchet::sim {

// `name`: prefix of all names of the tree, unique. Trees obey the rules that a real author's tables obey, so that each of them
// either succeeds or is undone.
[[nodiscard]] testing::pb::Script RandomTree(Prng& prng, const std::string& name);

}  // namespace ratchet::sim
