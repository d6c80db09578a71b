// One declaration for each RPC method, used by the server that offers it and by every client: its service, its name on
// the wire, the types of its messages, whether it changes anything, and what it asks of its caller.
// scripts/cmake/rpc_methods.py writes the declarations from the `service` blocks in common/model/proto, into one header
// for each service.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/rights/need.h"

namespace ratchet::rpc {

// A query has no effects: after a lost answer its outcome is not "unknown".
enum class Effect : std::uint8_t { kChanges, kQueries };

template <class Request, class Response>
struct Method {
  std::string_view service;  // simple name of the protobuf service, e.g. "ClientService"
  std::string_view name;     // as on the wire; matched exactly
  Effect effect;
  rights::Need need;  // there is no default, so no method is open by omission
};

}  // namespace ratchet::rpc
