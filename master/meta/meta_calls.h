// Options and errors that all calls to hbase:meta's server share.
#pragma once

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/rpc/channel.h"

namespace ratchet::master {

[[nodiscard]] inline rpc::CallOptions MetaCall(Millis timeout) {
  constexpr std::uint32_t kMetaPriority = 200;
  rpc::CallOptions call;
  call.timeout = timeout;
  call.priority = kMetaPriority;
  return call;
}

// Maps an error for the caller: retryable if the region is moving or no server answers; final for a higher epoch.
[[nodiscard]] inline Error ErrorForCaller(const Error& error) {
  switch (error.code()) {
    case Code::kFenced:
    case Code::kTimeout:
    case Code::kUnavailable: return error;
    case Code::kStale: return Error(Code::kFenced, error.message(), error.remote_class());
    default: return Error(Code::kUnavailable, error.ToString(), error.remote_class());
  }
}

}  // namespace ratchet::master
