// The methods with which operators see and close the open connections of a server (connections.h).
#pragma once

#include <functional>

#include "common/rpc/service.h"

namespace ratchet::rpc {

class RpcServer;

// Adds ListConnections and CloseConnections. `server`: whose connections they are; it may return null.
void AddConnectionMethods(Service& service, std::function<RpcServer*()> server);

}  // namespace ratchet::rpc
