// What `ratchet-chaos --list` says: what there is to choose from, what each needs, and what of that this machine has.
#pragma once

#include <string>

namespace ratchet::chaos {

[[nodiscard]] std::string ListText();

}  // namespace ratchet::chaos
