// How a connection becomes one of a member of the cluster, S123 (only a proof makes a member). Before the proof is
// complete, a connection holds one unit of the proof and the bytes of one read.
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/member_identity.h"
#include "common/rpc/server_connection.h"

namespace ratchet::rpc {

void ServerConnection::BeginProof() {
  if (shared_.options.member == nullptr) {
    const Error none = RemoteError(exception::kBadAuth, "this process offers no proof of membership");
    return Refuse(none);
  }
  proof_.emplace(shared_.options.member->BeginServer());
  phase_ = Phase::kProof;
}

bool ServerConnection::ConsumeProof() {
  if (input_.size() < 4) return false;
  const std::uint32_t length = ReadBig32(input_.Peek());
  if (length > kMostMemberUnit) {
    RefuseProof(Error(Code::kInvalidArgument, fmt::format("a unit of {} bytes in the member proof", length)));
    return false;
  }
  std::string unit;
  if (!input_.CutBytes(4 + std::size_t{length}, unit)) return false;
  const auto reply = proof_->OnUnit(std::string_view(unit).substr(4));
  if (!reply.ok()) {
    RefuseProof(reply.error());
    return false;
  }
  Send({ServerUnit(*reply), {}});
  if (!proof_->peer().has_value()) return true;
  member_ = proof_->peer();
  proof_.reset();
  shared_.options.member->Joined(id_, member_->name);
  RATCHET_LOG(kDebug, "connection from {}: {} {}", peer_, MemberRoleName(member_->role), member_->name.ToString());
  phase_ = Phase::kHeader;
  return true;
}

// The client gets the reason, and so does the log of this process: a member with another key is a mistake of an
// operator, and all others have no business here.
void ServerConnection::RefuseProof(const Error& error) {
  shared_.options.member->Refused(peer_, error.message());
  counters_->bad_connections.fetch_add(1);
  Send({ServerRefusal(exception::kAccessDenied, error.message()), {}});
  Linger();
}

bool ServerConnection::IsMember() const {
  const auto& own = shared_.options.member;
  const bool proven =
      own != nullptr && (member_.has_value() ? own->Holds(member_->key_id)
                                             : !facts_.cluster_key.empty() && own->TakesInClear(facts_.cluster_key));
  return proven || RATCHET_MUTANT("rpc.anybody_is_member");
}

}  // namespace ratchet::rpc
