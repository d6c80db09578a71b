// Faults that hit a server while a procedure depends on it: the splitter of a dead server's log, the target of an
// opening, the builder of a split's daughters. The evidence is the procedure and that it was unfinished after the kill.
#pragma once

#include <memory>

#include "chaos/faults/fault.h"

namespace ratchet::chaos {

[[nodiscard]] std::unique_ptr<Fault> MakeKillSplitter();
[[nodiscard]] std::unique_ptr<Fault> MakeKillOpenTarget();
[[nodiscard]] std::unique_ptr<Fault> MakeKillBuilder();

}  // namespace ratchet::chaos
