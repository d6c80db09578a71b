// Runs processes of a release together with processes of this tree.
#pragma once

#include <memory>

#include "chaos/faults/fault.h"

namespace ratchet::chaos {

// One region server, several, a standby, or the active master are replaced by processes of the release (--released) for
// some seconds, and then by processes of this tree again.
[[nodiscard]] std::unique_ptr<Fault> MakeMixedVersions();

}  // namespace ratchet::chaos
