// Random procedure trees: locks, children, failures, waits, time-outs, points of no return.
#pragma once

#include <string>
#include <vector>

#include "common/base/prng.h"
#include "tests/support/script_procedure.h"

namespace ratchet::sim {

struct RandomScript {
  testing::pb::Script script;
  std::vector<std::string> events;         // events that its members wait for
  std::vector<std::string> undo_failures;  // effects whose undo fails at first
  bool may_fail = false;                   // a step fails or throws
};

// `name`: prefix of all names of the tree, unique. Trees follow the rules of valid step tables, so that each either
// succeeds or is undone.
[[nodiscard]] RandomScript RandomTree(Prng& prng, const std::string& name);

}  // namespace ratchet::sim
