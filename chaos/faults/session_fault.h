// expire-session: the ZooKeeper session of one server or master ends while the process lives on.
#pragma once

#include <memory>

#include "chaos/faults/fault.h"

namespace ratchet::chaos {

[[nodiscard]] std::unique_ptr<Fault> MakeExpireSession();

}  // namespace ratchet::chaos
