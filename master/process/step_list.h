// Lists every procedure type and its steps, from the step tables, for sweeps over all steps.
#pragma once

#include <string>

namespace ratchet::master {

enum class StepListFormat { kText, kJson };
// JSON: [{"type": "...", "steps": [{"number": 1, "name": "...", "undo": "..."}]}]
[[nodiscard]] std::string ListSteps(StepListFormat format);

}  // namespace ratchet::master
