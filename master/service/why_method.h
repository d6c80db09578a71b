// The method that answers `ratchet why`, and its one line in the status.
#pragma once

#include <string>

#include "common/rpc/service.h"
#include "master/service/master_services.h"

namespace ratchet::master {

void AddWhyMethod(rpc::Service& service, ServiceEnv& env);
// The verdict on the whole cluster: "nothing waits", or what waits for longest and the cause.
[[nodiscard]] std::string WhyLine(const ServiceEnv& env);

}  // namespace ratchet::master
