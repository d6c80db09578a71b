// HBase's LockService: locks of the master for holders outside it.
#pragma once

#include "common/model/proto/procedure.pb.h"
#include "common/rpc/method.h"

namespace ratchet::methods {

inline constexpr std::string_view kLockService = "LockService";

inline constexpr rpc::Method<hbase::pb::LockRequest, hbase::pb::LockResponse> kRequestLock{kLockService, "RequestLock"};
inline constexpr rpc::Method<hbase::pb::LockHeartbeatRequest, hbase::pb::LockHeartbeatResponse> kLockHeartbeat{
    kLockService, "LockHeartbeat"};

}  // namespace ratchet::methods
