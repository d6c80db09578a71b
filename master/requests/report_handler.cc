#include "master/requests/report_handler.h"

#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "master/cluster/errors.h"
#include "master/cluster/membership.h"
#include "master/procedures/core/data.pb.h"
#include "master/procedures/core/master_env.h"
#include "master/requests/foreign_numbers.h"
#include "procedure/api/executor.h"

namespace ratchet::master {
namespace {

pb::OrderOutcome OutcomeOf(TransitionCode code) {
  switch (code) {
    case TransitionCode::kOpened: return pb::OPENED;
    case TransitionCode::kFailedOpen: return pb::FAILED_OPEN;
    case TransitionCode::kClosed: return pb::CLOSED;
  }
  return pb::FAILED_OPEN;
}

// Fills the fields that both kinds of answers have.
template <class Answer>
void Fill(const RegionReport& report, Answer& answer) {
  answer.set_encoded_region(report.encoded_region);
  answer.set_outcome(OutcomeOf(report.code));
  answer.set_open_sequence(report.open_sequence);
  if (report.schema_number != 0) answer.set_schema_number(report.schema_number);
  if (report.open_number != 0) answer.set_open_number(report.open_number);
  answer.set_error_class(report.error_class);
  answer.set_error_message(report.error_message);
}

}  // namespace

struct ReportHandler::Address {
  ServerName server;
  ProcId pid;
  Epoch epoch;
  std::uint32_t attempt = 0;
};

void ReportHandler::OnRegionReport(const RegionReport& report, std::function<void(Result<ReportAnswer>)> done) {
  OnRegionReports({report}, std::move(done));
}

void ReportHandler::OnRegionReports(const std::vector<RegionReport>& reports,
                                    std::function<void(Result<ReportAnswer>)> done) {
  const RegionReport& report = reports.front();
  pb::OrderAnswer answer;
  answer.set_server(report.server.ToString());
  answer.set_attempt(report.attempt);
  Fill(report, answer);
  if (report.flushed != 0) answer.set_flushed(report.flushed);
  for (auto other = reports.begin() + 1; other != reports.end(); ++other) Fill(*other, *answer.add_more());
  Take({report.server, report.pid, report.epoch, report.attempt}, answer.SerializeAsString(), std::move(done));
}

void ReportHandler::OnProcedureReport(const ProcedureReport& report, std::function<void(Result<ReportAnswer>)> done) {
  pb::OrderAnswer answer;
  answer.set_server(report.server.ToString());
  answer.set_attempt(report.attempt);
  answer.set_outcome(report.success ? pb::DONE : pb::FAILED);
  answer.set_payload(report.payload);
  answer.set_error_class(report.error_class);
  answer.set_error_message(report.error_message);
  Take({report.server, report.pid, report.epoch, report.attempt}, answer.SerializeAsString(), std::move(done));
}

Result<ReportAnswer> ReportHandler::Refusal(ProcId pid, std::string reason) const {
  ReportAnswer answer;
  answer.epoch = env_.executor->epoch();
  answer.reason = std::move(reason);
  const Result<std::uint32_t> expected = env_.executor->AwaitedAttempt(pid);
  if (expected.ok()) {
    answer.stale = true;
    answer.expected_attempt = *expected;
    return answer;
  }
  // kNotFound: no procedure waits for this order, so it is settled and the report can be acknowledged. After other
  // errors the report must not be acknowledged, because no procedure has it.
  if (expected.error().code() == Code::kNotFound) return answer;
  return expected.error();
}

void ReportHandler::Take(const Address& from, std::string message, std::function<void(Result<ReportAnswer>)> done) {
  if (!env_.servers.IsOnline(from.server) && !RATCHET_MUTANT("master.take_dead_reports")) {
    return done(YouAreDead(from.server, "is not online here"));
  }
  const Epoch mine = env_.executor->epoch();
  if (from.epoch > mine) {
    const Status known = CheckReportedEpoch(mine, from.epoch, "server " + from.server.ToString());
    if (!known.ok() && env_.went_back) env_.went_back(known.error());
    return done(Error(Code::kFenced,
                      fmt::format("the report is for epoch {}, but this master has epoch {}", from.epoch, mine)));
  }
  if (from.epoch < mine) {
    return done(Refusal(from.pid, fmt::format("expected epoch {}, not {}", mine, from.epoch)));
  }
  env_.executor->Deliver(from.pid, std::move(message),
                         [this, pid = from.pid, mine, done = std::move(done)](Result<procedure::Absorbed> absorbed) {
                           if (!absorbed.ok()) {
                             if (absorbed.error().code() == Code::kNotFound) {
                               return done(Refusal(pid, "the order is settled"));
                             }
                             return done(absorbed.error());
                           }
                           if (!absorbed->taken()) {
                             RATCHET_LOG(kInfo, "Stale report for pid={}: {}", pid, absorbed->reason);
                             return done(Refusal(pid, absorbed->reason));
                           }
                           ReportAnswer answer;
                           answer.epoch = mine;
                           done(std::move(answer));
                         });
}

}  // namespace ratchet::master
