// RegionServerStatusService: what region servers tell the master (docs/wire-compatibility.md).
//
// Telling a server that it is dead makes it exit, so that answer too leaves only after the epoch CHECK: a deposed
// master kills no server.
#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "common/base/fault_point.h"
#include "common/base/log.h"
#include "common/model/codec.h"
#include "common/model/proto/region_server_status.pb.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/region_server_status_service.h"
#include "master/control/master_logic.h"
#include "master/control/name_proof.h"
#include "master/service/load_reports.h"
#include "master/service/master_services.h"
#include "master/service/reply.h"
#include "master/state/server_version.h"

namespace ratchet::master {
namespace {

namespace pb = ::hbase::pb;
constexpr rpc::MethodOptions kReports{rpc::QueueClass::kTransition, /*members_only=*/true};
constexpr Millis kOldestReported{86'400'000};      // what a report says beyond it is taken for it
constexpr std::uint64_t kNoSequence = UINT64_MAX;  // HBase's -1

std::string PeerHost(const std::string& peer) { return peer.substr(0, peer.rfind(':')); }

void AddEntry(pb::RegionServerStartupResponse& response, const char* name, const std::string& value) {
  auto& entry = *response.add_map_entries();
  entry.set_name(name);
  entry.set_value(value);
}

void Startup(ServiceEnv& env, const ActiveParts& parts, const rpc::CallContext& call,
             const pb::RegionServerStartupRequest& request,
             const rpc::Responder<pb::RegionServerStartupResponse>& responder) {
  if (request.has_cluster_id() && request.cluster_id() != env.gate.cluster_id()) {
    return FailChecked(
        parts, responder,
        rpc::RemoteError(rpc::exception::kDoNotRetryIo,
                         fmt::format("this is cluster {}, not {}", env.gate.cluster_id(), request.cluster_id())));
  }
  if (!call.member) {
    return FailChecked(
        parts, responder,
        rpc::RemoteError(rpc::exception::kAccessDenied,
                         "a region server of this cluster shows the key in cluster.key below --root; this "
                         "connection does not"));
  }
  const std::string host =
      request.has_use_this_hostname_instead() ? request.use_this_hostname_instead() : PeerHost(call.peer);
  if (request.port() == 0 || request.port() > UINT16_MAX) {
    responder.Fail(
        rpc::RemoteError(rpc::exception::kDoNotRetryIo, fmt::format("port {} is out of range", request.port())));
    return;
  }
  const ServerName server{host, static_cast<std::uint16_t>(request.port()), request.server_start_code()};
  const std::int64_t skew = ClockSkewMs(request.server_current_time(), env.gate.clock().WallMillis());
  if (const Status clock = CheckClock(server, skew, env.clock_limits.refused); !clock.ok()) {
    RATCHET_LOG(kWarn, "Region server {} is refused: {}", server.ToString(), clock.error().message());
    return FailChecked(parts, responder, clock.error());
  }
  if (const Status version = CheckServerVersion(server, request.version(), env.oldest_server_version); !version.ok()) {
    RATCHET_LOG(kWarn, "{}", version.error().message());
    return FailChecked(parts, responder, version.error());
  }
  if (const Status proven = ProveServerName(parts.logic->env().files, server); !proven.ok()) {
    responder.Fail(proven.error());
    return;
  }
  RATCHET_LOG(kInfo, "Region server {} starts up, version '{}', its clock is {} ms ahead", server.ToString(),
              request.version(), skew);
  parts.logic->server_manager().Register(
      server, request.version(), [&env, parts, responder, host, server](const Status& registered) {
        pb::RegionServerStartupResponse response;
        if (!registered.ok() && rpc::IsClass(registered.error(), rpc::exception::kYouAreDead)) {
          response.set_refused_start_code(parts.logic->servers().GreatestStartCode(server));
          response.set_refusal(registered.error().message());
          return ReplyChecked(parts, responder, response);
        }
        if (!registered.ok()) return FailChecked(parts, responder, registered.error());
        AddEntry(response, "hbase.regionserver.hostname.seen.by.master", host);
        AddEntry(response, "hbase.rootdir", env.root);
        AddEntry(response, "hbase.master.info.port", "-1");
        response.set_epoch(parts.epoch.value());
        response.set_cluster_id(env.gate.cluster_id());
        ReplyChecked(parts, responder, response);
      });
}

// The clock goes with the load, as HBase has it.
void TakeClock(ServiceEnv& env, const ServerName& server, const pb::RegionServerReportRequest& request) {
  if (!request.load().has_report_end_time()) return;
  std::vector<ClockBook::AheadRegion> ahead;
  for (const auto& region : request.has_list_number() ? request.ahead() : request.online()) {
    if (region.has_ahead_ms()) ahead.push_back({region.encoded_name(), region.ahead_ms()});
  }
  const std::size_t count = std::max<std::size_t>(ahead.size(), request.ahead_count());
  const Clock& clock = env.gate.clock();
  env.clocks.Put(server, ClockSkewMs(request.load().report_end_time(), clock.WallMillis()), std::move(ahead),
                 clock.Now(), count);
}

// How the server's storage and its process are, and what the master says to that.
void TakeHealth(ServiceEnv& env, const ServerName& server, const pb::RegionServerReportRequest& request,
                pb::RegionServerReportResponse& response) {
  const TimePoint now = env.gate.clock().Now();
  ProcessNote note{{request.came_again(), 0, request.came_again_why()},
                   request.fault_points_allowed(),
                   {request.descriptors_used(), request.descriptor_limit()},
                   request.info_port()};
  if (request.storage().has_log_files()) note.log_files = request.storage().log_files();
  if (request.storage().has_free_bytes()) note.disk_free_bytes = request.storage().free_bytes();
  env.pasts.Put(server, std::move(note), now);
  if (!request.has_storage()) return;
  const auto age = [](std::uint64_t ms) { return Millis(std::min<std::uint64_t>(ms, kOldestReported.count())); };
  StorageReport report;
  if (request.storage().has_oldest_unfinished_ms())
    report.oldest_unfinished = age(request.storage().oldest_unfinished_ms());
  if (request.storage().has_proof_ms()) report.proof = age(request.storage().proof_ms());
  report.limit = age(request.storage().limit_ms());
  report.put_off_compactions = request.storage().put_off_compactions();
  report.put_off_why = request.storage().put_off_why();
  const StorageAnswer answer = env.storage.Put(server, report, now);
  if (answer.may_withdraw) {
    RATCHET_LOG(kWarn, "The storage of {} hangs for {} ms and answers others: it may withdraw", server.ToString(),
                report.oldest_unfinished->count());
  }
  response.set_may_withdraw(answer.may_withdraw);
  response.set_prove_storage(answer.prove);
}

// How its sources are; and the peers, where it does not have the list as it is now.
void TakeReplication(const ActiveParts& parts, const ServerName& server, const pb::RegionServerReportRequest& request,
                     pb::RegionServerReportResponse& response) {
  PeerDirectory& peers = parts.logic->peers();
  peers.PutProgress(server, {request.replication().begin(), request.replication().end()});
  if (request.peers_epoch() == parts.epoch.value() && request.peers_number() == peers.number()) return;
  *response.mutable_peers() = peers.ListFor(server, parts.epoch);
}

// What it is to limit, where it does not have that as it is now.
void TellThrottles(const ActiveParts& parts, const ServerName& server, const pb::RegionServerReportRequest& request,
                   pb::RegionServerReportResponse& response) {
  auto list = parts.logic->quota_keeper().ListFor(server, request.throttles_digest());
  if (list) *response.mutable_throttles() = *std::move(list);
}

RegionList ListOf(const pb::RegionServerReportRequest& request) {
  RegionList list;
  list.number = request.list_number();
  list.base = list.number == 0 ? 0 : request.list_base();
  list.open.reserve(static_cast<std::size_t>(request.online_size()));
  for (const auto& region : request.online()) list.open.push_back({region.encoded_name(), region.open_seq()});
  list.closed.assign(request.closed().begin(), request.closed().end());
  list.size = request.list_size();
  list.digest = request.list_digest();
  return list;
}

Result<pb::RegionServerReportResponse> Heartbeat(ServiceEnv& env, const ActiveParts& parts,
                                                 const pb::RegionServerReportRequest& request) {
  RATCHET_ASSIGN(const ServerName server, FromProto(request.server()));
  RATCHET_TRY(parts.logic->servers().Heartbeat(server));
  const RegionList list = ListOf(request);
  const std::uint64_t taken = parts.logic->reconciler().OnHeartbeat(server, list);
  if (request.has_load()) {
    const TimePoint now = env.gate.clock().Now();
    TakeRates(parts, server, request.load(), now);
    env.loads.Put(server, request.load(), now, list);
  }
  SplitWhatHasGrown(env.loads, parts, server);
  pb::RegionServerReportResponse response;
  response.set_epoch(parts.epoch.value());
  if (taken != 0) response.set_list_taken(taken);
  TakeHealth(env, server, request, response);
  TakeClock(env, server, request);
  TakeReplication(parts, server, request, response);
  TellThrottles(parts, server, request, response);
  if (parts.logic->servers().decommissions().IsToStop(server)) response.set_stop(true);
  if (request.leaving()) response.set_may_leave(parts.logic->departures().OnLeaving(server));
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
          fmt::format("transition {} is not offered", static_cast<int>(transition.transition_code())));
  }
  if (transition.region_info_size() != 1 || transition.proc_id_size() != 1 || transition.proc_id(0) <= 0) {
    return rpc::RemoteError(rpc::exception::kDoNotRetryIo, "a transition names one region and one procedure");
  }
  RATCHET_ASSIGN(const RegionInfo region, FromProto(transition.region_info(0)));
  report.encoded_region = region.encoded_name();
  report.open_sequence = transition.open_seq_num();
  report.descriptor = transition.schema_number();
  report.pid = ProcId(static_cast<std::uint64_t>(transition.proc_id(0)));
  report.epoch = Epoch(transition.epoch());
  report.attempt = transition.attempt();
  report.error_class = transition.error().generic_exception().class_name();
  report.error_message = transition.error().generic_exception().message();
  return report;
}

// Answers when every transition of one request is settled; the first one that was not taken decides the answer.
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
    // A taken report was committed, and a commit passes the CHECK; "stale" and errors come from state (S33).
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

void ReportTransitions(const ActiveParts& parts, const rpc::CallContext& /*call*/,
                       const pb::ReportRegionStateTransitionRequest& request,
                       const rpc::Responder<pb::ReportRegionStateTransitionResponse>& responder) {
  const auto server = FromProto(request.server());
  if (!server.ok() || request.transition_size() == 0) {
    responder.Fail(rpc::RemoteError(rpc::exception::kDoNotRetryIo, "a report names its server and a transition"));
    return;
  }
  IgnoreResult(HitFault("master.before_report", server->ToString()), "only for pausing and dying here");
  const auto answer = std::make_shared<TransitionAnswer>(parts, responder, request.transition_size());
  for (const auto& transition : request.transition()) {
    const auto report = ReportOf(*server, transition);
    if (!report.ok()) {
      answer->Take(report.error());
      continue;
    }
    parts.logic->reports().OnRegionReport(*report, [answer](Result<ReportAnswer> taken) { answer->Take(taken); });
  }
}

// As above for answers to server-wide orders; the response has no fields, a stale one is settled by the next resend.
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
    responder.Fail(rpc::RemoteError(rpc::exception::kDoNotRetryIo, "a report names its server"));
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
    parts.logic->reports().OnProcedureReport(report, [answer](Result<ReportAnswer> taken) { answer->Take(taken); });
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
  std::vector<ServerName> online = parts.logic->servers().Online();
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
      rpc::MethodOptions{});
  // Not refused before the handler, which tells a server of another cluster so; but that one waits among clients.
  service.ClassifyBy(methods::kRegionServerStartup, [](const rpc::CallContext& call, const auto&) {
    return call.member ? rpc::QueueClass::kTransition : rpc::QueueClass::kAdmin;
  });
  Answer(
      service, env.gate, Need::kWorkers, methods::kRegionServerReport,
      [&env](const ActiveParts& parts, const rpc::CallContext& /*call*/, const auto& request) {
        return Heartbeat(env, parts, request);
      },
      kReports);
  AnswerLater(service, env.gate, Need::kWorkers, methods::kReportRegionStateTransition, ReportTransitions, kReports);
  AnswerLater(service, env.gate, Need::kWorkers, methods::kReportProcedureDone, ReportDone, kReports);
}

}  // namespace

std::shared_ptr<rpc::Service> MakeRegionServerStatusService(ServiceEnv& env) {
  auto service = std::make_shared<rpc::Service>(methods::kRegionServerStatusService);
  AddReports(*service, env);
  AnswerAlways(
      *service, methods::kReportRSFatalError,
      [](const rpc::CallContext& call, const pb::ReportRSFatalErrorRequest& request) {
        RATCHET_LOG(kError, "Region server {}:{} ({}) says goodbye: {}", request.server().host_name(),
                    request.server().port(), call.peer, request.error_message());
        return pb::ReportRSFatalErrorResponse();
      },
      kReports);
  Answer(
      *service, env.gate, Need::kWorkers, methods::kGetLastFlushedSequenceId,
      [&env](const ActiveParts& /*parts*/, const rpc::CallContext& /*call*/, const auto& request) {
        return LastFlushed(env, request);
      },
      kReports);
  Answer(*service, env.gate, Need::kWorkers, methods::kGetLiveRegionServers, SomeLiveServers);
  return service;
}

}  // namespace ratchet::master
