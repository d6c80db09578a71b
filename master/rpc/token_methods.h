// Who may ask the master for a token.
#pragma once

#include <string>

#include "common/base/result.h"
#include "common/rpc/call.h"

namespace ratchet::master {

// S151 (a token is its user's only): a client that has shown a token, or nothing, gets none, whatever its rights are.
[[nodiscard]] Status MayIssueToken(const rpc::CallContext& call, const std::string& user);

}  // namespace ratchet::master
