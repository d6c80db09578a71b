// Errors of a region with the class names that HBase's clients handle.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <fmt/format.h>

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
// For a write that may still turn out to be durable.
inline Error WriteInDoubt(const std::string& region, std::string_view why) {
  return MakeError(Code::kUnavailable,
                   fmt::format("region {} is not served here: {}; the outcome of the write is unknown", region, why),
                   rpc::kWriteInDoubt);
}
inline Error TooBusy(std::string message) {
  return MakeError(Code::kResourceExhausted, std::move(message), rpc::exception::kRegionTooBusy);
}
inline Error RowTooBig(std::uint64_t most) {
  return MakeError(
      Code::kInvalidArgument,
      fmt::format("Max row size allowed: {} bytes (hbase.table.max.rowsize), but the row is bigger than that; ask for "
                  "fewer columns, or scan with partial results or a batch",
                  most),
      exception::kRowTooBig);
}
inline Error DoNotRetry(Code code, std::string message) {
  return MakeError(code, std::move(message), rpc::exception::kDoNotRetryIo);
}

}  // namespace ratchet::regionserver
