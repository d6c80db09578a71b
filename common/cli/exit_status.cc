#include "common/cli/exit_status.h"

#include "common/rpc/exceptions.h"

namespace ratchet::cli {

int ExitCodeOf(const Error& error) {
  switch (error.code()) {
    case Code::kInvalidArgument: return kExitUsage;
    case Code::kNotFound: return kExitNotFound;
    case Code::kUnavailable: return kExitUnreachable;
    case Code::kTimeout: return rpc::IsClass(error, rpc::kCallTimeout) ? kExitTimeout : kExitUnreachable;
    default: return kExitFailed;
  }
}

}  // namespace ratchet::cli
