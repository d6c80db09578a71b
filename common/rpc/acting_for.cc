#include "common/rpc/acting_for.h"

#include "common/model/message_limits.h"
#include "common/model/proto/rpc.pb.h"
#include "common/rpc/exceptions.h"

namespace ratchet::rpc {

std::string EncodeActingFor(const CallContext& call) {
  hbase::pb::ActsFor acts;
  acts.set_user(call.user);
  acts.set_real_user(call.real_user);
  acts.set_peer(call.peer);
  acts.set_authentication(static_cast<std::uint32_t>(call.authentication));
  return acts.SerializeAsString();
}

Result<std::optional<ActingFor>> ReadActingFor(const hbase::pb::RequestHeader& header) {
  for (const auto& attribute : header.attribute()) {
    if (attribute.name() != kActsForAttribute) continue;
    hbase::pb::ActsFor acts;
    const auto as = [&acts](Authentication which) {
      return acts.authentication() == static_cast<std::uint32_t>(which);
    };
    const bool read = ParseMessage(attribute.value(), acts).ok();
    if (!read || !(as(Authentication::kSimple) || as(Authentication::kCertificate) || as(Authentication::kToken) ||
                   as(Authentication::kKerberos)))
      return RemoteError(exception::kDoNotRetryIo, "the user of a call that a member passes on cannot be read");
    return std::optional<ActingFor>(
        {acts.user(), acts.real_user(), acts.peer(), static_cast<Authentication>(acts.authentication())});
  }
  return std::optional<ActingFor>();
}

}  // namespace ratchet::rpc
