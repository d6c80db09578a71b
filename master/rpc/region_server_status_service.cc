// RegionServerStatusService: the reports of region servers to the master (docs/wire-compatibility.md).
//
// YouAreDeadException makes a server exit, so that answer is also sent only after the epoch CHECK: a deposed master
// ends no server.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "common/base/fault_point.h"
#include "common/base/host_port.h"
#include "common/base/log.h"
#include "common/base/version.h"
#include "common/model/codec.h"
#include "common/model/name_rules.h"
#include "common/model/proto/region_server_status.pb.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/region_server_status_service.h"
#include "master/cluster/server_version.h"
#include "master/requests/foreign_numbers.h"
#include "master/rpc/master_services.h"
#include "master/rpc/reply.h"
#include "master/startup/master_logic.h"
#include "master/startup/name_proof.h"
#include "master/telemetry/heartbeat_intake.h"

namespace ratchet::master {
namespace {

namespace pb = ::hbase::pb;
constexpr rpc::MethodOptions kReports{rpc::QueueClass::kTransition};
constexpr std::uint64_t kNoSequence = UINT64_MAX;  // HBase's -1

std::string PeerHost(const std::string& peer) { return SplitHostPort(peer).value_or(HostPort{}).host; }

// A member speaks for itself only.
Status CheckOwnName(const ServiceEnv& env, const rpc::CallContext& call, const ServerName& named) {
  const auto proven = env.proven_name ? env.proven_name(call.connection) : std::nullopt;
  if (!proven.has_value()) return Ok();
  if (LowerCaseHost(named.host) == proven->host && named.port == proven->port && named.start_code == proven->start_code)
    return Ok();
  return rpc::RemoteError(
      rpc::exception::kAccessDenied,
      fmt::format("{} has proven that it is a member, and cannot report for {}", proven->ToString(), named.ToString()));
}

void AddEntry(pb::RegionServerStartupResponse& response, const char* name, const std::string& value) {
  auto& entry = *response.add_map_entries();
  entry.set_name(name);
  entry.set_value(value);
}

// Answers when the registration is durable. `server` is reachable at its address.
void RegisterReached(ServiceEnv& env, const ActiveParts& parts, const std::string& version, std::int64_t skew,
                     const ServerName& server, const rpc::Responder<pb::RegionServerStartupResponse>& responder) {
  RATCHET_LOG(kInfo, "Region server {} starts, version '{}', its clock is {} ms ahead", server.ToString(), version,
              skew);
  parts.logic->server_manager.Register(server, version, [&env, parts, responder, server](const Status& registered) {
    pb::RegionServerStartupResponse response;
    if (!registered.ok() && rpc::IsClass(registered.error(), rpc::exception::kYouAreDead)) {
      response.set_refused_start_code(parts.logic->registrations.GreatestStartCode(server));
      response.set_refusal(registered.error().message());
      return ReplyChecked(parts, responder, response);
    }
    if (!registered.ok()) return FailChecked(parts, responder, registered.error());
    AddEntry(response, "hbase.regionserver.hostname.seen.by.master", server.host);
    AddEntry(response, "hbase.rootdir", env.root);
    AddEntry(response, "hbase.master.info.port", "-1");
    response.set_epoch(parts.epoch.value());
    response.set_cluster_id(env.gate.cluster_id());
    // S135 (a change is answered when every server has it): the image is made after the server counts as online.
    *response.mutable_rights() = parts.logic->rights.Image(parts.epoch)->ToProtoForMembers();
    ReplyChecked(parts, responder, response);
  });
}

void Startup(ServiceEnv& env, const ActiveParts& parts, const rpc::CallContext& call,
             const pb::RegionServerStartupRequest& request,
             const rpc::Responder<pb::RegionServerStartupResponse>& responder) {
  if (request.has_cluster_id() && request.cluster_id() != env.gate.cluster_id()) {
    return FailChecked(
        parts, responder,
        rpc::RemoteError(rpc::exception::kDoNotRetryIo,
                         fmt::format("this cluster is {}, not {}", env.gate.cluster_id(), request.cluster_id())));
  }
  const std::string host =
      request.has_use_this_hostname_instead() ? request.use_this_hostname_instead() : PeerHost(call.peer);
  if (request.port() == 0 || request.port() > UINT16_MAX) {
    responder.Fail(
        rpc::RemoteError(rpc::exception::kDoNotRetryIo, fmt::format("port {} is out of range", request.port())));
    return;
  }
  const ServerName server{host, static_cast<std::uint16_t>(request.port()), request.server_start_code()};
  if (const Status own = CheckOwnName(env, call, server); !own.ok()) return FailChecked(parts, responder, own.error());
  const std::int64_t skew = ClockSkewMs(request.server_current_time(), env.gate.clock().WallMillis());
  if (const Status clock = CheckClock(server, skew, env.clock_limits.refused); !clock.ok()) {
    RATCHET_LOG(kWarn, "Region server {} is refused: {}", server.ToString(), clock.error().message());
    return FailChecked(parts, responder, clock.error());
  }
  if (const Status version = CheckServerVersion(server, request.version(), env.oldest_server_version); !version.ok()) {
    RATCHET_LOG(kWarn, "{}", version.error().message());
    return FailChecked(parts, responder, version.error());
  }
  if (const Status proven = ProveServerName(parts.logic->env.files, server); !proven.ok()) {
    responder.Fail(proven.error());
    return;
  }
  if (!env.reach || parts.logic->servers.IsOnline(server))
    return RegisterReached(env, parts, ShownVersion(request.version()), skew, server, responder);
  const std::string version = ShownVersion(request.version());
  env.reach(server, [&env, parts, version, skew, server, responder](const Status& reached) {
    if (reached.ok()) {
      env.unreached.Reached(server);
      return RegisterReached(env, parts, version, skew, server, responder);
    }
    if (reached.error().code() == Code::kAborted) {  // this master stops
      responder.Fail(reached.error());
      return;
    }
    const std::string& why = reached.error().message();
    if (env.unreached.NotReached(server, why, env.gate.clock().Now()))
      RATCHET_LOG(kWarn, "Region server {} cannot register, because it is unreachable: {}", server.ToString(), why);
    FailChecked(parts, responder,
                rpc::RemoteError(rpc::exception::kPleaseHold,
                                 fmt::format("the master cannot reach this server at {}: {}; correct the name's "
                                             "address, --host or --bind",
                                             server.Address(), why)));
  });
}

// Splits regions that have grown, at intervals.
void SplitWhatHasGrown(const ServiceEnv& env, const ActiveParts& parts, const ServerName& server) {
  AutoSplitter& splitter = parts.logic->auto_splitter;
  if (!splitter.IsDue(server)) return;
  std::vector<RegionSize> sizes = env.loads.SizesAt(server);
  parts.logic->region_sizes.Put(server, sizes, parts.logic->servers.Online());
  splitter.Look(server, std::move(sizes));
}

// Stores the state of its replication sources, and returns the list of peers if the server's list is old.
void RecordReplication(const ActiveParts& parts, const ServerName& server, const pb::RegionServerReportRequest& request,
                       pb::RegionServerReportResponse& response) {
  PeerDirectory& peers = parts.logic->peers;
  peers.PutProgress(server, {request.replication().begin(), request.replication().end()});
  if (request.peers_epoch() == parts.epoch.value() && request.peers_number() == peers.number()) return;
  *response.mutable_peers() = peers.ListFor(server, parts.epoch);
}

// Returns the image of rights if the server's one is old. A server of a version without rights names none.
void SendRights(const ActiveParts& parts, const pb::RegionServerReportRequest& request,
                pb::RegionServerReportResponse& response) {
  const RightsBook& book = parts.logic->rights;
  if (!request.has_rights_epoch()) return;
  if (request.rights_epoch() == parts.epoch.value() && request.rights_number() == book.number()) return;
  *response.mutable_rights() = book.Image(parts.epoch)->ToProtoForMembers();
}

// Returns the throttles if the server's list is old.
void SendThrottles(const ActiveParts& parts, const ServerName& server, const pb::RegionServerReportRequest& request,
                   pb::RegionServerReportResponse& response) {
  auto list = parts.logic->quota_manager.ListFor(server, request.throttles_digest());
  if (list) *response.mutable_throttles() = *std::move(list);
}

// A server of version 0.2 counts no loads, and repeats all of them.
void AskForLoads(const ServiceEnv& env, const ActiveParts& parts, const ServerName& server,
                 const pb::RegionServerReportRequest& request, pb::RegionServerReportResponse& response) {
  if (!request.has_loads_held()) return;
  response.set_loads_a_second(parts.logic->load_share.Of(parts.logic->servers));
  if (LacksLoads(env.loads, server, request)) response.set_all_loads(true);
}

// S114 (no start without the past): a master in an older copy of the root must neither give orders to this server nor
// declare it dead.
Status CheckNumbers(const ActiveParts& parts, const ServerName& server, const pb::RegionServerReportRequest& request) {
  const std::string from = "server " + server.ToString();
  std::uint64_t largest = 0;
  for (const auto& region : request.online()) largest = std::max(largest, region.open_number());
  Status known = CheckReportedEpoch(parts.epoch, Epoch(request.known_epoch()), from);
  if (known.ok()) known = CheckReportedPid(*parts.executor, largest, from);
  if (known.ok()) return known;
  if (parts.logic->env.went_back) parts.logic->env.went_back(known.error());
  return rpc::RemoteError(rpc::exception::kPleaseHold, known.error().message());
}

Result<pb::RegionServerReportResponse> Heartbeat(ServiceEnv& env, const ActiveParts& parts,
                                                 const rpc::CallContext& call,
                                                 const pb::RegionServerReportRequest& request) {
  RATCHET_ASSIGN(const ServerName server, FromProto(request.server()));
  RATCHET_TRY(CheckOwnName(env, call, server));
  RATCHET_TRY(CheckNumbers(parts, server, request));
  RATCHET_TRY(parts.logic->servers.Heartbeat(server));
  if (env.heard_from) env.heard_from(server, call.connection);
  const RegionList list = RegionListOf(request);
  const std::uint64_t taken = parts.logic->reconciler.OnHeartbeat(server, list);
  HeartbeatIntake intake({env.loads, env.clocks, env.storage, env.pasts, parts.logic->region_rates}, env.gate.clock());
  const auto storage = intake.Take(server, request, list);
  SplitWhatHasGrown(env, parts, server);
  pb::RegionServerReportResponse response;
  response.set_epoch(parts.epoch.value());
  if (taken != 0) response.set_list_taken(taken);
  if (storage) {
    response.set_may_withdraw(storage->may_withdraw);
    response.set_prove_storage(storage->prove);
  }
  AskForLoads(env, parts, server, request, response);
  RecordReplication(parts, server, request, response);
  SendThrottles(parts, server, request, response);
  SendRights(parts, request, response);
  if (parts.logic->decommissions.IsToStop(server)) response.set_stop(true);
  if (request.leaving()) response.set_may_leave(parts.logic->drainer.OnLeaving(server));
  return response;
}

Result<RegionReport> ReportOf(const ServerName& server, const pb::RegionStateTransition& transition) {
  RegionReport report;
  report.server = server;
  switch (transition.transition_code()) {
    case pb::RegionStateTransition::OPENED: report.code = TransitionCode::kOpened; break;
    case pb::RegionStateTransition::FAILED_OPEN: report.code = TransitionCode::kFailedOpen; break;
    case pb::RegionStateTransition::CLOSED: report.code = TransitionCode::kClosed; break;
    default:
      return rpc::RemoteError(
          rpc::exception::kDoNotRetryIo,
          fmt::format("transition {} is not supported", static_cast<int>(transition.transition_code())));
  }
  if (transition.region_info_size() != 1 || transition.proc_id_size() != 1 || transition.proc_id(0) <= 0) {
    return rpc::RemoteError(rpc::exception::kDoNotRetryIo, "a transition must name one region and one procedure");
  }
  RATCHET_ASSIGN(const RegionInfo region, FromProto(transition.region_info(0)));
  report.encoded_region = region.encoded_name();
  report.open_sequence = transition.open_seq_num();
  report.schema_number = transition.schema_number();
  report.open_number = transition.open_number();
  report.flushed = transition.flushed();
  report.pid = ProcId(static_cast<std::uint64_t>(transition.proc_id(0)));
  report.epoch = Epoch(transition.epoch());
  report.attempt = transition.attempt();
  report.error_class = transition.error().generic_exception().class_name();
  report.error_message = transition.error().generic_exception().message();
  return report;
}

// Returns the request's reports, those of one order together.
std::vector<std::vector<RegionReport>> ByOrder(const ServerName& server,
                                               const pb::ReportRegionStateTransitionRequest& request,
                                               std::vector<Error>& errors) {
  std::map<std::tuple<ProcId, Epoch, std::uint32_t>, std::size_t> places;
  std::vector<std::vector<RegionReport>> orders;
  for (const auto& transition : request.transition()) {
    auto report = ReportOf(server, transition);
    if (!report.ok()) {
      errors.push_back(report.error());
      continue;
    }
    const auto [place, added] = places.try_emplace({report->pid, report->epoch, report->attempt}, orders.size());
    if (added) orders.emplace_back();
    orders[place->second].push_back(*std::move(report));
  }
  return orders;
}

// Answers when every transition of one request is processed; the first rejected one decides the answer.
class TransitionAnswer {
 public:
  TransitionAnswer(ActiveParts parts, rpc::Responder<pb::ReportRegionStateTransitionResponse> responder, int count)
      : parts_(parts), responder_(std::move(responder)), left_(count) {
    response_.set_epoch(parts_.epoch.value());
  }

  void Take(const Result<ReportAnswer>& answer) {
    std::optional<Error> failed;
    {
      MutexLock lock(mutex_);
      if (!answer.ok()) {
        if (!error_.has_value()) error_ = answer.error();
      } else if (answer->stale && !response_.stale()) {
        response_.set_stale(true);
        response_.set_expected_epoch(answer->epoch.value());
        if (answer->expected_attempt.has_value()) response_.set_expected_attempt(*answer->expected_attempt);
        response_.set_error_message(answer->reason);
      }
      if (--left_ > 0) return;
      failed = error_;
    }
    // An accepted report was committed, and a commit includes the CHECK; "stale" and errors depend on state (S33: check
    // before state replies).
    if (failed.has_value()) return FailChecked(parts_, responder_, *failed);
    ReplyChecked(parts_, responder_, response_);
  }

 private:
  const ActiveParts parts_;
  const rpc::Responder<pb::ReportRegionStateTransitionResponse> responder_;
  Mutex mutex_;
  int left_ GUARDED_BY(mutex_);
  std::optional<Error> error_ GUARDED_BY(mutex_);
  pb::ReportRegionStateTransitionResponse response_;  // after the last Take no other thread touches it
};

void ReportTransitions(const ServiceEnv& env, const ActiveParts& parts, const rpc::CallContext& call,
                       const pb::ReportRegionStateTransitionRequest& request,
                       const rpc::Responder<pb::ReportRegionStateTransitionResponse>& responder) {
  const auto server = FromProto(request.server());
  if (!server.ok() || request.transition_size() == 0) {
    responder.Fail(rpc::RemoteError(rpc::exception::kDoNotRetryIo, "a report must name its server and a transition"));
    return;
  }
  if (const Status own = CheckOwnName(env, call, *server); !own.ok()) return FailChecked(parts, responder, own.error());
  IgnoreResult(HitFault("master.before_report", server->ToString()), "only for pausing and dying here");
  std::vector<Error> errors;
  const std::vector<std::vector<RegionReport>> orders = ByOrder(*server, request, errors);
  const auto answer =
      std::make_shared<TransitionAnswer>(parts, responder, static_cast<int>(orders.size() + errors.size()));
  for (const Error& error : errors) answer->Take(error);
  for (const std::vector<RegionReport>& reports : orders) {
    parts.logic->reports.OnRegionReports(reports, [answer](Result<ReportAnswer> taken) { answer->Take(taken); });
  }
}

// Handles answers to server-wide orders. The response has no fields; the next resend settles a stale answer.
class DoneAnswer {
 public:
  DoneAnswer(ActiveParts parts, rpc::Responder<pb::ReportProcedureDoneResponse> responder, int count)
      : parts_(parts), responder_(std::move(responder)), left_(count) {}
  void Take(const Result<ReportAnswer>& answer) {
    std::optional<Error> failed;
    {
      MutexLock lock(mutex_);
      if (!answer.ok() && !error_.has_value()) error_ = answer.error();
      if (--left_ > 0) return;
      failed = error_;
    }
    if (failed.has_value()) return FailChecked(parts_, responder_, *failed);
    ReplyChecked(parts_, responder_, pb::ReportProcedureDoneResponse{});
  }

 private:
  const ActiveParts parts_;
  const rpc::Responder<pb::ReportProcedureDoneResponse> responder_;
  Mutex mutex_;
  int left_ GUARDED_BY(mutex_);
  std::optional<Error> error_ GUARDED_BY(mutex_);
};

void ReportDone(const ActiveParts& parts, const rpc::CallContext& /*call*/,
                const pb::ReportProcedureDoneRequest& request,
                const rpc::Responder<pb::ReportProcedureDoneResponse>& responder) {
  const auto server = FromProto(request.server());
  if (!server.ok()) {
    responder.Fail(rpc::RemoteError(rpc::exception::kDoNotRetryIo, "a report must name its server"));
    return;
  }
  if (request.result_size() == 0) return ReplyChecked(parts, responder, pb::ReportProcedureDoneResponse{});
  const auto answer = std::make_shared<DoneAnswer>(parts, responder, request.result_size());
  for (const auto& result : request.result()) {
    ProcedureReport report;
    report.server = *server;
    report.pid = ProcId(result.proc_id());
    report.epoch = Epoch(result.epoch());
    report.attempt = result.attempt();
    report.success = result.status() == pb::RemoteProcedureResult::SUCCESS;
    report.payload = result.payload();
    report.error_class = result.error().generic_exception().class_name();
    report.error_message = result.error().generic_exception().message();
    parts.logic->reports.OnProcedureReport(report, [answer](Result<ReportAnswer> taken) { answer->Take(taken); });
  }
}

Result<pb::GetLastFlushedSequenceIdResponse> LastFlushed(const ServiceEnv& env,
                                                         const pb::GetLastFlushedSequenceIdRequest& request) {
  pb::GetLastFlushedSequenceIdResponse response;
  std::string encoded = request.region_name();  // HBase's servers send the encoded name
  if (const auto parsed = EncodedNameOf(encoded); parsed.ok()) encoded = *parsed;
  response.set_last_flushed_sequence_id(env.loads.FlushedSequence(encoded).value_or(kNoSequence));
  return response;
}

Result<pb::GetLiveRegionServersResponse> SomeLiveServers(const ActiveParts& parts, const rpc::CallContext& /*call*/,
                                                         const pb::GetLiveRegionServersRequest& request) {
  std::vector<ServerName> online = parts.logic->servers.Online();
  pb::GetLiveRegionServersResponse response;
  response.set_total(static_cast<std::uint32_t>(online.size()));
  if (online.size() > request.count()) online.resize(request.count());
  for (const ServerName& server : online) ToProto(server, *response.add_server());
  return response;
}

void AddReports(rpc::Service& service, ServiceEnv& env) {
  AnswerLater(
      service, env.gate, Need::kWorkers, methods::kRegionServerStartup,
      [&env](const ActiveParts& parts, const rpc::CallContext& call, const auto& request, const auto& responder) {
        Startup(env, parts, call, request, responder);
      },
      kReports);
  Answer(
      service, env.gate, Need::kWorkers, methods::kRegionServerReport,
      [&env](const ActiveParts& parts, const rpc::CallContext& call, const auto& request) {
        return Heartbeat(env, parts, call, request);
      },
      kReports);
  AnswerLater(
      service, env.gate, Need::kWorkers, methods::kReportRegionStateTransition,
      [&env](const ActiveParts& parts, const rpc::CallContext& call, const auto& request, const auto& responder) {
        ReportTransitions(env, parts, call, request, responder);
      },
      kReports);
  AnswerLater(service, env.gate, Need::kWorkers, methods::kReportProcedureDone, ReportDone, kReports);
}

}  // namespace

std::shared_ptr<rpc::Service> MakeRegionServerStatusService(ServiceEnv& env) {
  auto service = std::make_shared<rpc::Service>(methods::kRegionServerStatusService);
  AddReports(*service, env);
  AnswerAlways(
      *service, methods::kReportRSFatalError,
      [](const rpc::CallContext& call, const pb::ReportRSFatalErrorRequest& request) {
        RATCHET_LOG(kError, "Region server {} ({}) reports a fatal error: {}",
                    JoinHostPort(request.server().host_name(), static_cast<std::uint16_t>(request.server().port())),
                    call.peer, request.error_message());
        return pb::ReportRSFatalErrorResponse();
      },
      kReports);
  Answer(
      *service, env.gate, Need::kWorkers, methods::kGetLastFlushedSequenceId,
      [&env](const ActiveParts& /*parts*/, const rpc::CallContext& /*call*/, const auto& request) {
        return LastFlushed(env, request);
      },
      kReports);
  Answer(*service, env.gate, Need::kWorkers, methods::kGetLiveRegionServers, SomeLiveServers, kReports);
  return service;
}

}  // namespace ratchet::master
