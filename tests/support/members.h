// Members of a cluster in tests: a server, and clients that prove to it that they have its key.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/rpc/channel_options.h"
#include "common/rpc/member_identity.h"
#include "common/rpc/server.h"

namespace ratchet {

// The name is the one of a client; a server gets its own by NameMember.
[[nodiscard]] inline std::shared_ptr<rpc::MemberIdentity> MakeMember(
    std::vector<std::string> keys, Live<rpc::ProofPolicy> policy = rpc::ProofPolicy::kRequired) {
  auto member = std::make_shared<rpc::MemberIdentity>(rpc::MemberRole::kMaster, keys, std::move(policy));
  member->SetName({"127.0.0.1", 1, 1});
  return member;
}

// Call it after the server's start, because the server's name has its port.
inline void NameMember(rpc::MemberIdentity& member, const rpc::RpcServer& server) {
  member.SetName({"127.0.0.1", server.port(), 1});
}

[[nodiscard]] inline rpc::ChannelPoolOptions MemberPool(const std::string& key) {
  rpc::ChannelPoolOptions options;
  options.member = MakeMember({key});
  return options;
}

}  // namespace ratchet
