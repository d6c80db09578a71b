// HbckService: the repairs that are safe here. Everything else of it is refused by name: nothing writes states past the
// procedures that own them.
#include "common/base/mutex.h"
#include "common/model/codec.h"
#include "common/model/proto/hbck.pb.h"
#include "common/rpc/exceptions.h"
#include "master/server/master_logic.h"
#include "master/service/master_services.h"
#include "master/service/reply.h"

namespace ratchet::master {
namespace {

namespace pb = ::hbase::pb;
constexpr rpc::MethodOptions kAdmin{rpc::QueueClass::kAdmin};
constexpr std::uint64_t kNoProcedure = UINT64_MAX;  // HBase's -1: refused, or nothing to do

// Gathers one pid for each item of a request, in order, and answers when the last is there.
template <class Response>
class PidList {
 public:
  PidList(ActiveParts parts, rpc::Responder<Response> responder, std::size_t count)
      : parts_(parts), responder_(std::move(responder)), pids_(count, kNoProcedure), left_(count) {}
  void Take(std::size_t index, const Result<ProcId>& pid) {
    Response response;
    {
      MutexLock lock(mutex_);
      if (pid.ok() && pid->valid()) pids_[index] = pid->value();
      if (--left_ > 0) return;
      for (const std::uint64_t value : pids_) response.add_pid(value);
    }
    ReplyChecked(parts_, responder_, response);
  }

 private:
  const ActiveParts parts_;
  const rpc::Responder<Response> responder_;
  Mutex mutex_;
  std::vector<std::uint64_t> pids_ GUARDED_BY(mutex_);
  std::size_t left_ GUARDED_BY(mutex_);
};

// Registers a verb on a list: `start(parts, item, call, done)`.
template <class Request, class Response, class Items, class Start>
void AddListVerb(rpc::Service& service, const MasterGate& gate, const char* method, Items items, Start start) {
  service.On<Request, Response>(
      method,
      [&gate, items, start](const rpc::CallContext& call, const Request& request, std::string_view /*cells*/,
                            rpc::Responder<Response> responder) {
        const auto parts = gate.Admit(Need::kWorkers);
        if (!parts.ok()) {
          responder.Fail(parts.error());
          return;
        }
        const auto& list = items(request);
        if (list.empty()) return ReplyChecked(*parts, responder, Response{});
        const auto pids =
            std::make_shared<PidList<Response>>(*parts, std::move(responder), static_cast<std::size_t>(list.size()));
        std::size_t index = 0;
        for (const auto& item : list) {
          start(*parts, item, RequestContext{call.user, {}},
                [pids, at = index](const Result<ProcId>& pid) { pids->Take(at, pid); });
          ++index;
        }
      },
      kAdmin);
}

}  // namespace

std::shared_ptr<rpc::Service> MakeHbckService(ServiceEnv& env) {
  auto service = std::make_shared<rpc::Service>("HbckService");
  AddListVerb<pb::ScheduleServerCrashProcedureRequest, pb::ScheduleServerCrashProcedureResponse>(
      *service, env.gate, "ScheduleServerCrashProcedure",
      [](const auto& request) -> const auto& { return request.servername(); },
      [](const ActiveParts& parts, const pb::ServerName& name, const RequestContext& context, TableAdmin::Done done) {
        const auto server = FromProto(name);
        if (!server.ok()) return done(server.error());
        parts.logic->servers().Expire(*server, "asked for by " + context.user, std::move(done));
      });
  const auto verb = [](auto method) {
    return [method](const ActiveParts& parts, const pb::RegionSpecifier& specifier, RequestContext context,
                    TableAdmin::Done done) {
      const auto region = EncodedNameOf(specifier);
      if (!region.ok()) return done(region.error());
      (parts.logic->admin().*method)(*region, std::move(context), std::move(done));
    };
  };
  const auto regions = [](const auto& request) -> const auto& { return request.region(); };
  AddListVerb<pb::AssignsRequest, pb::AssignsResponse>(*service, env.gate, "Assigns", regions,
                                                       verb(&TableAdmin::AssignRegion));
  AddListVerb<pb::UnassignsRequest, pb::UnassignsResponse>(*service, env.gate, "Unassigns", regions,
                                                           verb(&TableAdmin::UnassignRegion));
  return service;
}

}  // namespace ratchet::master
