// MasterService: split, merge and truncation of regions, which return the pid; move, assign, unassign. The latter
// answer when the procedure has ended, as in HBase, or after the caller's time-out; the wait occupies no thread.
// Clients that poll themselves use RatchetService.TransitRegion.
#include <algorithm>
#include <atomic>
#include <memory>

#include <fmt/core.h>

#include "common/model/codec.h"
#include "common/model/proto/master.pb.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/master_service.h"
#include "master/rpc/master_services.h"
#include "master/rpc/reply.h"
#include "master/rpc/submission.h"
#include "master/startup/master_logic.h"

namespace ratchet::master {
namespace {

namespace pb = ::hbase::pb;

constexpr Millis kLongestWait{1'200'000};  // HBase's hbase.client.operation.timeout; for callers without a time-out

Millis WaitOf(const rpc::CallContext& call) {
  return call.timeout > Millis{0} ? std::min(call.timeout, kLongestWait) : kLongestWait;
}

// An answer that is sent when a procedure has ended or the wait is over, whichever is first.
template <class Response>
class AnswerAtTheEnd : public std::enable_shared_from_this<AnswerAtTheEnd<Response>> {
 public:
  AnswerAtTheEnd(const ActiveParts& parts, Timers* timers, rpc::Responder<Response> responder)
      : parts_(parts), timers_(timers), responder_(std::move(responder)) {}

  void Await(ProcId pid, Millis wait) {
    if (timers_ != nullptr) {
      timer_ = timers_->After(wait, [self = this->shared_from_this(), pid, wait] {
        if (self->answered_.exchange(true)) return;
        FailChecked(self->parts_, self->responder_,
                    Error(Code::kTimeout, fmt::format("procedure {} has not ended within {} ms; it continues",
                                                      pid.value(), wait.count())));
      });
    }
    parts_.executor->OnFinished(pid, [self = this->shared_from_this()](const procedure::ProcedureResult& result) {
      if (self->answered_.exchange(true)) return;
      if (self->timers_ != nullptr) self->timers_->Cancel(self->timer_);
      if (result.error) return FailChecked(self->parts_, self->responder_, *result.error);
      ReplyChecked(self->parts_, self->responder_, Response{});
    });
  }

 private:
  const ActiveParts parts_;
  Timers* const timers_;
  const rpc::Responder<Response> responder_;
  Timers::Handle timer_ = 0;  // set before the wait for the procedure begins
  std::atomic<bool> answered_{false};
};

// Registers a method on one region: `start(admin, region, request, context, done)`.
template <class Request, class Response, class Start>
void AddVerb(rpc::Service& service, const ServiceEnv& env, const rpc::Method<Request, Response>& method, Start start) {
  AnswerLater(service, env.gate, Need::kReady, method,
              [&env, start](const ActiveParts& parts, const rpc::CallContext& call, const Request& request,
                            const rpc::Responder<Response>& responder) {
                const auto region = EncodedNameOf(request.region());
                if (!region.ok()) {
                  responder.Fail(rpc::RemoteError(rpc::exception::kUnknownRegion, region.error().message()));
                  return;
                }
                start(parts.logic->admin, *region, request, ContextOf(call),
                      [parts, timers = env.timers, wait = WaitOf(call), responder](Result<ProcId> pid) {
                        if (!pid.ok()) return FailChecked(parts, responder, pid.error());
                        std::make_shared<AnswerAtTheEnd<Response>>(parts, timers, responder)->Await(*pid, wait);
                      });
              });
}

// A request with the complete region info, as for splits and truncations.
template <class Request, class Response, class Run>
void WithRegion(const rpc::Responder<Response>& responder, const Request& request, Run run) {
  const auto region = FromProto(request.region_info());
  if (region.ok()) return run(region->encoded_name());
  responder.Fail(rpc::RemoteError(rpc::exception::kDoNotRetryIo, region.error().message()));
}

void Split(const ActiveParts& parts, const rpc::CallContext& call, const pb::SplitTableRegionRequest& request,
           const rpc::Responder<pb::SplitTableRegionResponse>& responder) {
  WithRegion(responder, request, [&](const std::string& region) {
    parts.logic->admin.SplitRegion(region, request.split_row(), ContextOf(call, request), AnswerPid(parts, responder));
  });
}

void Truncate(const ActiveParts& parts, const rpc::CallContext& call, const pb::TruncateRegionRequest& request,
              const rpc::Responder<pb::TruncateRegionResponse>& responder) {
  WithRegion(responder, request, [&](const std::string& region) {
    parts.logic->admin.TruncateRegion(region, ContextOf(call, request), AnswerPid(parts, responder));
  });
}

void Merge(const ActiveParts& parts, const rpc::CallContext& call, const pb::MergeTableRegionsRequest& request,
           const rpc::Responder<pb::MergeTableRegionsResponse>& responder) {
  std::vector<std::string> regions;
  for (const pb::RegionSpecifier& specifier : request.region()) {
    const auto region = EncodedNameOf(specifier);
    if (!region.ok()) {
      responder.Fail(rpc::RemoteError(rpc::exception::kUnknownRegion, region.error().message()));
      return;
    }
    regions.push_back(*region);
  }
  parts.logic->admin.MergeRegions(regions, ContextOf(call, request), AnswerPid(parts, responder));
}

}  // namespace

void AddRegionMethods(rpc::Service& service, ServiceEnv& env) {
  AnswerLater(service, env.gate, Need::kReady, methods::kSplitRegion, Split);
  AnswerLater(service, env.gate, Need::kReady, methods::kMergeTableRegions, Merge);
  AnswerLater(service, env.gate, Need::kReady, methods::kTruncateRegion, Truncate);
  AddVerb(service, env, methods::kMoveRegion,
          [](TableAdmin& admin, const std::string& region, const pb::MoveRegionRequest& request, RequestContext context,
             TableAdmin::Done done) {
            MoveTarget target;
            if (request.has_dest_server_name()) {
              auto server = FromProto(request.dest_server_name());
              if (!server.ok()) return done(rpc::RemoteError(rpc::exception::kDoNotRetryIo, server.error().message()));
              target.server = std::move(*server);
            }
            admin.MoveRegion(region, std::move(target), std::move(context), std::move(done));
          });
  AddVerb(service, env, methods::kAssignRegion,
          [](TableAdmin& admin, const std::string& region, const pb::AssignRegionRequest& /*request*/,
             RequestContext context,
             TableAdmin::Done done) { admin.AssignRegion(region, std::move(context), std::move(done)); });
  AddVerb(service, env, methods::kUnassignRegion,
          [](TableAdmin& admin, const std::string& region, const pb::UnassignRegionRequest& /*request*/,
             RequestContext context,
             TableAdmin::Done done) { admin.UnassignRegion(region, std::move(context), std::move(done)); });
}

}  // namespace ratchet::master
