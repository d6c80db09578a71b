// HbckService: the repairs that are safe here. All other methods are refused by name, because only the owning
// procedures may write states.
#include <utility>

#include "common/base/mutex.h"
#include "common/model/codec.h"
#include "common/model/proto/hbck.pb.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/hbck_service.h"
#include "master/rpc/master_services.h"
#include "master/rpc/reply.h"
#include "master/rpc/submission.h"
#include "master/startup/master_logic.h"

namespace ratchet::master {
namespace {

namespace pb = ::hbase::pb;
constexpr std::uint64_t kNoProcedure = UINT64_MAX;  // HBase's -1: refused, or not needed

// Collects one pid for each item of a request, in order, and answers when all are known.
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

// Registers a method on a list: `start(parts, item, call, done)`.
template <class Request, class Response, class Items, class Start>
void AddListVerb(rpc::Service& service, const MasterGate& gate, const rpc::Method<Request, Response>& method,
                 Items items, Start start) {
  AnswerLater(
      service, gate, Need::kWorkers, method,
      [items, start](const ActiveParts& parts, const rpc::CallContext& call, const Request& request,
                     const rpc::Responder<Response>& responder) {
        const auto& list = items(request);
        if (list.empty()) return ReplyChecked(parts, responder, Response{});
        const auto pids = std::make_shared<PidList<Response>>(parts, responder, static_cast<std::size_t>(list.size()));
        std::size_t index = 0;
        for (const auto& item : list) {
          start(parts, item, ContextOf(call), [pids, at = index](const Result<ProcId>& pid) { pids->Take(at, pid); });
          ++index;
        }
      });
}

// Answers with one result for each pid when all are known or the request's wait has passed; a bypass that is not
// durable by then stays requested.
class BypassList {
 public:
  using Responder = rpc::Responder<pb::BypassProcedureResponse>;
  BypassList(ActiveParts parts, Responder responder, int count)
      : parts_(parts),
        responder_(std::move(responder)),
        bypassed_(static_cast<std::size_t>(count), false),
        left_(count) {}
  void Take(std::size_t index, bool bypassed) {
    {
      MutexLock lock(mutex_);
      bypassed_[index] = bypassed;
      if (--left_ > 0) return;
    }
    Answer();
  }
  void Answer() {
    pb::BypassProcedureResponse response;
    {
      MutexLock lock(mutex_);
      if (std::exchange(answered_, true)) return;
      for (const bool bypassed : bypassed_) response.add_bypassed(bypassed);
    }
    ReplyChecked(parts_, responder_, response);
  }

 private:
  const ActiveParts parts_;
  const Responder responder_;
  Mutex mutex_;
  std::vector<bool> bypassed_ GUARDED_BY(mutex_);
  int left_ GUARDED_BY(mutex_);
  bool answered_ GUARDED_BY(mutex_) = false;
};

void Bypass(const ServiceEnv& env, const ActiveParts& parts, const rpc::CallContext& call,
            const pb::BypassProcedureRequest& request, const BypassList::Responder& responder) {
  if (request.proc_id_size() == 0) return ReplyChecked(parts, responder, pb::BypassProcedureResponse{});
  const auto list = std::make_shared<BypassList>(parts, responder, request.proc_id_size());
  std::size_t index = 0;
  for (const std::uint64_t pid : request.proc_id()) {
    parts.executor->Bypass(ProcId(pid), request.recursive(), {call.user, std::string(methods::kHbckService)},
                           [list, at = index](const Status& status) { list->Take(at, status.ok()); });
    ++index;
  }
  if (env.timers != nullptr) env.timers->After(Millis(request.waittime()), [list] { list->Answer(); });
}

}  // namespace

std::shared_ptr<rpc::Service> MakeHbckService(ServiceEnv& env) {
  auto service = std::make_shared<rpc::Service>(methods::kHbckService);
  AddListVerb(
      *service, env.gate, methods::kScheduleServerCrashProcedure,
      [](const auto& request) -> const auto& { return request.servername(); },
      [](const ActiveParts& parts, const pb::ServerName& name, const RequestContext& context, TableAdmin::Done done) {
        const auto server = FromProto(name);
        if (!server.ok()) return done(server.error());
        parts.logic->server_manager.Expire(*server, "operator: asked for by " + context.user, std::move(done));
      });
  const auto verb = [](auto method) {
    return [method](const ActiveParts& parts, const pb::RegionSpecifier& specifier, RequestContext context,
                    TableAdmin::Done done) {
      const auto region = EncodedNameOf(specifier);
      if (!region.ok()) return done(region.error());
      (parts.logic->admin.*method)(*region, std::move(context), std::move(done));
    };
  };
  const auto regions = [](const auto& request) -> const auto& { return request.region(); };
  AddListVerb(*service, env.gate, methods::kAssigns, regions, verb(&TableAdmin::AssignRegion));
  AddListVerb(*service, env.gate, methods::kUnassigns, regions, verb(&TableAdmin::UnassignRegion));
  AnswerLater(*service, env.gate, Need::kWorkers, methods::kBypassProcedure,
              [&env](const ActiveParts& parts, const rpc::CallContext& call, const pb::BypassProcedureRequest& request,
                     const BypassList::Responder& responder) { Bypass(env, parts, call, request, responder); });
  return service;
}

}  // namespace ratchet::master
