// MasterService: quotas of requests. Space quotas are not supported, so their lists are empty.
#include "common/rpc/methods/master_service.h"
#include "master/chores/quota_manager.h"
#include "master/rpc/master_services.h"
#include "master/rpc/reply.h"
#include "master/startup/master_logic.h"

namespace ratchet::master {
namespace {

void SetQuota(const ActiveParts& parts, const rpc::CallContext& /*call*/, const hbase::pb::SetQuotaRequest& request,
              const rpc::Responder<hbase::pb::SetQuotaResponse>& responder) {
  parts.logic->quota_manager.Set(request, [parts, responder](const Status& set) {
    if (!set.ok()) return FailChecked(parts, responder, set.error());
    ReplyChecked(parts, responder, hbase::pb::SetQuotaResponse());
  });
}

void SwitchExceed(const ActiveParts& parts, const rpc::CallContext& /*call*/,
                  const hbase::pb::SwitchExceedThrottleQuotaRequest& request,
                  const rpc::Responder<hbase::pb::SwitchExceedThrottleQuotaResponse>& responder) {
  parts.logic->quota_manager.SetMayExceed(request.exceed_throttle_quota_enabled(),
                                          [parts, responder](const Result<bool>& before) {
                                            if (!before.ok()) return FailChecked(parts, responder, before.error());
                                            hbase::pb::SwitchExceedThrottleQuotaResponse response;
                                            response.set_previous_exceed_throttle_quota_enabled(*before);
                                            ReplyChecked(parts, responder, response);
                                          });
}

}  // namespace

void AddQuotaMethods(rpc::Service& service, ServiceEnv& env) {
  AnswerLater(service, env.gate, Need::kReady, methods::kSetQuota, SetQuota);
  AnswerLater(service, env.gate, Need::kReady, methods::kSwitchExceedThrottleQuota, SwitchExceed);
  Answer(service, env.gate, Need::kReady, methods::kGetQuotaStates,
         [](const ActiveParts& /*parts*/, const rpc::CallContext& /*call*/,
            const hbase::pb::GetQuotaStatesRequest& /*request*/) -> Result<hbase::pb::GetQuotaStatesResponse> {
           return hbase::pb::GetQuotaStatesResponse();
         });
  Answer(service, env.gate, Need::kReady, methods::kGetSpaceQuotaRegionSizes,
         [](const ActiveParts& /*parts*/, const rpc::CallContext& /*call*/,
            const hbase::pb::GetSpaceQuotaRegionSizesRequest& /*request*/)
             -> Result<hbase::pb::GetSpaceQuotaRegionSizesResponse> {
           return hbase::pb::GetSpaceQuotaRegionSizesResponse();
         });
}

}  // namespace ratchet::master
