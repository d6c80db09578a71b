// The snapshot from which `ratchet why` is answered. Each part is asked once, under its own lock for a moment; nothing
// here waits for a worker, a server or the storage.
#pragma once

#include "master/service/master_services.h"
#include "procedure/host/why/facts.h"

namespace ratchet::master {

// `all_regions`: those at rest too, for a subject that may be one of them.
[[nodiscard]] host::WhyFacts TakeWhyFacts(const ServiceEnv& env, bool all_regions);

}  // namespace ratchet::master
