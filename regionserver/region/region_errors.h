// Errors of a region under the class names that HBase's clients react to.
#pragma once

#include <string>
#include <utility>

#include "common/base/result.h"
#include "common/rpc/exceptions.h"

namespace ratchet::regionserver {

inline Error MakeError(Code code, std::string message, std::string_view remote_class) {
  return Error(code, std::move(message), std::string(remote_class));
}
inline Error NotServing(const std::string& region, std::string_view why) {
  return MakeError(Code::kUnavailable, "region " + region + " is not served here: " + std::string(why),
                   rpc::exception::kNotServingRegion);
}
inline Error TooBusy(std::string message) {
  return MakeError(Code::kResourceExhausted, std::move(message), rpc::exception::kRegionTooBusy);
}
inline Error DoNotRetry(Code code, std::string message) {
  return MakeError(code, std::move(message), rpc::exception::kDoNotRetryIo);
}

}  // namespace ratchet::regionserver
