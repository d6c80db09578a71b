// Waits at a server's start for its address: an address that may still appear (a name that DNS does not know now, an
// interface that is not up yet) is retried for a limited time. The thread of the process's start.
#pragma once

#include "common/base/clock.h"
#include "common/base/exit_latch.h"
#include "common/base/result.h"
#include "common/rpc/server.h"

namespace ratchet::rpc {

// Errors as RpcServer::Start; kAborted: an end was requested meanwhile.
[[nodiscard]] Status AwaitListening(RpcServer& server, Millis within, const Clock& clock, ExitLatch& exit);

// The exit code of a process that cannot listen.
[[nodiscard]] int ExitCodeWithoutAddress(const Error& error);

}  // namespace ratchet::rpc
