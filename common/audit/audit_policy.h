// The rules by which calls get a line in the audit log. Pure.
#pragma once

#include <string_view>

#include "common/rpc/call.h"

namespace ratchet::audit {

// A change that needs a durable line before it runs. Calls of members, queries, and writes of rows need none.
[[nodiscard]] bool NeedsLine(const rpc::CallContext& context, bool changes);
// "rights", "token", "settings" or "change".
[[nodiscard]] std::string_view EventOf(std::string_view method);
// True for a change that frees space, or that stops a process: it runs although the log has no room.
[[nodiscard]] bool RunsWithoutRoom(std::string_view method);

}  // namespace ratchet::audit
