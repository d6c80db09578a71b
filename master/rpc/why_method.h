// The method that answers `ratchet why`, and its one line in the status.
#pragma once

#include <string>

#include "common/rpc/service.h"
#include "master/rpc/master_services.h"

namespace ratchet::master {

void AddWhyMethod(rpc::Service& service, ServiceEnv& env);
// Returns one line about the whole cluster: "nothing waits", or the longest wait and its cause.
[[nodiscard]] std::string WhyLine(const ServiceEnv& env);

}  // namespace ratchet::master
