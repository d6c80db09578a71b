// Collects the state for an answer of `ratchet why`. Reads each part once, briefly under its own lock; never waits for
// a worker, a server or the storage.
#pragma once

#include "master/rpc/master_services.h"
#include "master/why/facts.h"

namespace ratchet::master {

// `all_regions`: includes regions without a problem, because the subject may be such a region.
[[nodiscard]] MasterFacts CollectWhyFacts(const ServiceEnv& env, bool all_regions);

}  // namespace ratchet::master
