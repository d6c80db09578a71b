#include "common/cli/exit_status.h"

#include "common/rpc/exceptions.h"

namespace ratchet::cli {

int ExitCodeOf(const Error& error) {
  switch (error.code()) {
    case Code::kInvalidArgument: return kExitUsage;
    case Code::kNotFound: return kExitNotFound;
    case Code::kUnavailable: return kExitUnreachable;
    case Code::kTimeout: return rpc::OutcomeUnknown(error) ? kExitTimeout : kExitUnreachable;
    default: return kExitFailed;
  }
}

}  // namespace ratchet::cli
