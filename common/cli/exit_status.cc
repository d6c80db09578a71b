#include "common/cli/exit_status.h"

#include "common/rpc/exceptions.h"

namespace ratchet::cli {

int ExitCodeOf(const Error& error) {
  switch (error.code()) {
    // What the cluster refuses is no wrong usage, even where it travels as the class for bad requests.
    case Code::kInvalidArgument: return error.remote_class().empty() ? kExitUsage : kExitFailed;
    case Code::kNotFound: return kExitNotFound;
    case Code::kUnavailable: return kExitUnreachable;
    case Code::kTimeout: return rpc::IsClass(error, rpc::kCallTimeout) ? kExitTimeout : kExitUnreachable;
    default: return kExitFailed;
  }
}

}  // namespace ratchet::cli
