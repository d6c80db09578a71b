// The problems that each process of a cluster has with the modes of its root, its keys, certificates, users, logins and
// audit log. One list for masters and region servers, so that none of them forgets a kind. Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "common/rights/users.h"
#include "common/rpc/member_identity.h"

namespace ratchet::page {

// Sentences for `ratchet status`; empty: no problem.
[[nodiscard]] std::vector<std::string> ProcessProblems(const rpc::MemberIdentity& member, const rights::Users& users);

}  // namespace ratchet::page
