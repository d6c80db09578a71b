// Random procedure trees: locks, children, failures, waits, time-outs, points of no return.
#pragma once

#include <string>
#include <vector>

#include "common/base/prng.h"
#include "tests/support/script_procedure.h"

namespace ratchet::sim {

struct RandomScript {
  testing::pb::Script script;
  std::vector<std::string> events;         // that its members wait for
  std::vector<std::string> undo_failures;  // effects whose undo fails at first
  bool may_fail = false;                   // some step fails or throws
};

// `name`: prefix of all names of the tree, unique. Trees obey the rules that a real author's tables obey, so that each
// of them either succeeds or is undone.
[[nodiscard]] RandomScript RandomTree(Prng& prng, const std::string& name);

}  // namespace ratchet::sim
