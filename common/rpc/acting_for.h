// ActingFor: the client whose call a member passes on to another member, for example a region server to the master.
//
// It is an attribute of the request header. Only a proven member's is read, S150 (only members act for others); then
// the call is judged and audited as that client's, and is not a member's.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/rpc/call.h"

namespace hbase::pb {
class RequestHeader;
}  // namespace hbase::pb

namespace ratchet::rpc {

inline constexpr std::string_view kActsForAttribute = "ratchet.acts-for";

struct ActingFor {
  std::string user;
  std::string real_user;
  std::string peer;
  Authentication authentication = Authentication::kSimple;
};

// For CallOptions::acts_for: the client that made this call.
[[nodiscard]] std::string EncodeActingFor(const CallContext& call);
// nullopt: the header has no such attribute. A value that cannot be read, or that names a member, is an error.
[[nodiscard]] Result<std::optional<ActingFor>> ReadActingFor(const hbase::pb::RequestHeader& header);

}  // namespace ratchet::rpc
