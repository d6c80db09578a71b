#include "regionserver/process/master_link.h"

#include <utility>

#include "common/model/codec.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/region_server_status_service.h"

namespace ratchet::regionserver {
namespace {

// reports have a queue of their own at the master, so that floods do not delay them
constexpr std::uint32_t kReportPriority = 300;
constexpr std::uint32_t kHeartbeatPriority = 100;

void FillError(const OrderAnswer& answer, pb::ForeignExceptionMessage& out) {
  rpc::FillForeign(Error(Code::kIo, answer.error_message, answer.error_class), "region server", out);
}

pb::RegionStateTransition::TransitionCode CodeOf(OrderOutcome outcome) {
  switch (outcome) {
    case OrderOutcome::kOpened: return pb::RegionStateTransition::OPENED;
    case OrderOutcome::kClosed: return pb::RegionStateTransition::CLOSED;
    default: return pb::RegionStateTransition::FAILED_OPEN;
  }
}

void FillTransition(const OrderReport& report, pb::RegionStateTransition& out) {
  out.set_transition_code(CodeOf(report.answer.outcome));
  if (!report.answer.region_info.empty() && !out.add_region_info()->ParseFromString(report.answer.region_info))
    out.clear_region_info();  // the master refuses such a report, and names the region in its error
  if (report.answer.outcome == OrderOutcome::kOpened) {
    out.set_open_seq_num(report.answer.open_sequence);
    if (report.answer.schema_number != 0) out.set_schema_number(report.answer.schema_number);
    if (report.answer.open_number != 0) out.set_open_number(report.answer.open_number);
  }
  if (report.answer.outcome == OrderOutcome::kClosed && report.answer.flushed != 0)
    out.set_flushed(report.answer.flushed);
  out.add_proc_id(static_cast<std::int64_t>(report.pid.value()));
  out.set_epoch(report.address.epoch.value());
  out.set_attempt(report.address.attempt);
  if (report.answer.outcome == OrderOutcome::kFailedOpen) FillError(report.answer, *out.mutable_error());
  out.set_detail(report.key.region);
}

Result<ReportVerdict> VerdictOf(Result<pb::ReportRegionStateTransitionResponse> response) {
  if (!response.ok()) return std::move(response).error();
  ReportVerdict verdict;
  verdict.epoch = Epoch(response->epoch());
  verdict.stale = response->stale();
  if (verdict.stale && response->has_expected_epoch()) {
    verdict.expected = OrderAddress{Epoch(response->expected_epoch()), response->expected_attempt()};
  }
  if (!verdict.stale && response->has_error_message() && !response->error_message().empty()) {
    return Error(Code::kFailedPrecondition, "the master refused the report: " + response->error_message());
  }
  return verdict;
}

}  // namespace

MasterLink::MasterLink(rpc::ChannelPool& pool, MasterTracker& tracker, MasterLinkOptions options)
    : pool_(pool), tracker_(tracker), options_(std::move(options)) {}

void MasterLink::SetSelf(const ServerName& self) {
  MutexLock lock(mutex_);
  self_ = self;
}

ServerName MasterLink::self() const {
  MutexLock lock(mutex_);
  return self_;
}

Result<std::shared_ptr<rpc::Channel>> MasterLink::ChannelTo(std::string_view service) {
  const auto master = tracker_.master();
  if (!master.has_value()) return Error(Code::kUnavailable, "no master is active");
  return pool_.Get(service, rpc::Endpoint{master->host, master->port});
}

rpc::CallOptions MasterLink::CallOptions(std::uint32_t priority) const {
  rpc::CallOptions options;
  options.timeout = options_.call_timeout;
  options.priority = priority;
  return options;
}

// The master rejects this server when the cluster's key differs from the one that this server read: the key was lost,
// and a new master wrote another one. The next incarnation reads it again.
void MasterLink::LookForDeath(const Error& error) const {
  if (rpc::IsClass(error, rpc::exception::kYouAreDead) || rpc::IsClass(error, rpc::exception::kAccessDenied))
    options_.on_dead(error.message());
}

void MasterLink::Forget(const ServerName& old) { pool_.Forget(rpc::Endpoint{old.host, old.port}); }

Result<pb::RegionServerStartupResponse> MasterLink::Startup(const pb::RegionServerStartupRequest& request) {
  RATCHET_ASSIGN(auto channel, ChannelTo(methods::kRegionServerStatusService));
  RATCHET_ASSIGN(auto reply,
                 channel->CallSync(methods::kRegionServerStartup, request, CallOptions(kHeartbeatPriority)));
  return std::move(reply.message);
}

void MasterLink::Heartbeat(const pb::RegionServerReportRequest& request,
                           std::function<void(Result<pb::RegionServerReportResponse>)> done) {
  Ask(methods::kRegionServerReport, request, kHeartbeatPriority, std::move(done));
}

void MasterLink::ReportTransitions(const std::vector<OrderReport>& reports,
                                   std::function<void(Result<ReportVerdict>)> done) {
  pb::ReportRegionStateTransitionRequest request;
  ToProto(self(), *request.mutable_server());
  for (const OrderReport& report : reports) FillTransition(report, *request.add_transition());
  Ask(methods::kReportRegionStateTransition, request, kReportPriority,
      [done = std::move(done)](Result<pb::ReportRegionStateTransitionResponse> response) {
        done(VerdictOf(std::move(response)));
      });
}

void MasterLink::ReportProceduresDone(const std::vector<OrderReport>& reports, std::function<void(Status)> done) {
  pb::ReportProcedureDoneRequest request;
  ToProto(self(), *request.mutable_server());
  for (const OrderReport& report : reports) {
    pb::RemoteProcedureResult& result = *request.add_result();
    result.set_proc_id(report.pid.value());
    result.set_epoch(report.address.epoch.value());
    result.set_attempt(report.address.attempt);
    if (report.answer.outcome == OrderOutcome::kDone) {
      result.set_status(pb::RemoteProcedureResult::SUCCESS);
      result.set_payload(report.answer.payload);
    } else {
      result.set_status(pb::RemoteProcedureResult::ERROR);
      FillError(report.answer, *result.mutable_error());
    }
  }
  Ask(methods::kReportProcedureDone, request, kReportPriority,
      [done = std::move(done)](Result<pb::ReportProcedureDoneResponse> response) {
        done(response.ok() ? Ok() : Status(std::move(response).error()));
      });
}

}  // namespace ratchet::regionserver
