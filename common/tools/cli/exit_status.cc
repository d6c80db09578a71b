#include "common/tools/cli/exit_status.h"

#include "common/rpc/exceptions.h"

namespace ratchet::cli {

Ending EndingOf(const Error& error) {
  switch (error.code()) {
    case Code::kInvalidArgument:
      // A request that the cluster refuses because of its state is not wrong usage, even if the error has the class for
      // bad requests.
      if (error.remote_class().empty() || rpc::IsClass(error, rpc::exception::kIllegalArgumentIo)) {
        return {CodeName(Code::kInvalidArgument), kExitUsage};
      }
      return {"REFUSED", kExitFailed};
    case Code::kNotFound: return {CodeName(Code::kNotFound), kExitNotFound};
    case Code::kUnavailable: return {CodeName(Code::kUnavailable), kExitUnreachable};
    case Code::kTimeout:
      if (rpc::IsClass(error, rpc::kCallTimeout)) return {CodeName(Code::kTimeout), kExitTimeout};
      return {CodeName(Code::kUnavailable), kExitUnreachable};
    default: return {CodeName(error.code()), kExitFailed};
  }
}

}  // namespace ratchet::cli
