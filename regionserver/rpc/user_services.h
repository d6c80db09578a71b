// MasterCalls: what a region server asks the active master for a client. HBase's clients send these calls to a region,
// by ExecService; the master judges and answers them for that client, S150 (only members act for others).
#pragma once

#include <functional>

#include "common/base/result.h"
#include "common/model/proto/access_control.pb.h"
#include "common/model/proto/token.pb.h"
#include "common/rpc/call.h"

namespace ratchet::regionserver {

// Thread-safe. `done` is called once, on any thread; it must not block.
class MasterCalls {
 public:
  template <class Response>
  using Done = std::function<void(Result<Response>)>;
  virtual ~MasterCalls() = default;
  virtual void Grant(const rpc::CallContext& client, const hbase::pb::GrantRequest& request,
                     Done<hbase::pb::GrantResponse> done) = 0;
  virtual void Revoke(const rpc::CallContext& client, const hbase::pb::RevokeRequest& request,
                      Done<hbase::pb::RevokeResponse> done) = 0;
  virtual void GetUserPermissions(const rpc::CallContext& client, const hbase::pb::GetUserPermissionsRequest& request,
                                  Done<hbase::pb::GetUserPermissionsResponse> done) = 0;
  virtual void HasUserPermissions(const rpc::CallContext& client, const hbase::pb::HasUserPermissionsRequest& request,
                                  Done<hbase::pb::HasUserPermissionsResponse> done) = 0;
  virtual void IssueToken(const rpc::CallContext& client, Done<ratchet::pb::IssueTokenResponse> done) = 0;
};

}  // namespace ratchet::regionserver
