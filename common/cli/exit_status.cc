#include "common/cli/exit_status.h"

#include "common/rpc/exceptions.h"

namespace ratchet::cli {

Ending EndingOf(const Error& error) {
  switch (error.code()) {
    case Code::kInvalidArgument:
      // What the cluster refuses for its state is no wrong usage, even where it travels as the class for bad requests.
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
