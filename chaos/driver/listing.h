// The output of `ratchet-chaos --list`: the choices, the needs of each, and whether this machine fulfils them.
#pragma once

#include <string>

namespace ratchet::chaos {

[[nodiscard]] std::string ListText();

}  // namespace ratchet::chaos
