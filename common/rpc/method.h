// One declaration for each RPC method, used by the server that offers it and by every client: its service, its name on
// the wire, the types of its messages, and whether it changes anything. scripts/cmake/rpc_methods.py writes the
// declarations from the `service` blocks in common/model/proto, into one header for each service.
#pragma once

#include <cstdint>
#include <string_view>

namespace ratchet::rpc {

// A query has no effects: after a lost answer its outcome is not "unknown".
enum class Effect : std::uint8_t { kChanges, kQueries };

template <class Request, class Response>
struct Method {
  std::string_view service;  // simple name of the protobuf service, e.g. "ClientService"
  std::string_view name;     // as on the wire; matched exactly
  Effect effect = Effect::kChanges;
};

}  // namespace ratchet::rpc
