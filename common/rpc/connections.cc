#include "common/rpc/connections.h"

#include "common/base/host_port.h"

namespace ratchet::rpc {

bool ConnectionFilter::Matches(const ShownConnection& facts) const {
  const bool is_member = facts.authentication == Authentication::kMember;
  if (user.has_value() && (is_member || facts.user != *user)) return false;
  if (plain_text && !facts.tls.empty()) return false;
  if (address.empty() || facts.peer == address) return true;
  const auto peer = SplitHostPort(facts.peer);
  return peer.has_value() && peer->host == address;
}

}  // namespace ratchet::rpc
