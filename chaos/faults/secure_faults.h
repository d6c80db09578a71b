// Faults of a cluster that ratchet-chaos has secured (chaos/cluster/credentials.h): files of identity that cannot be
// used, servers that have lost the image of rights, new certificates and authorities (rotation.h).
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "chaos/faults/fault.h"

namespace ratchet::chaos {

// Returns null if the kind is not one of these.
[[nodiscard]] std::unique_ptr<Fault> MakeSecureFault(std::string_view kind);
[[nodiscard]] std::vector<std::string_view> SecureFaultKinds();

}  // namespace ratchet::chaos
