// ClientService.Scan: opens, continues, renews and closes scanners (docs/wire-compatibility.md).
#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "common/base/mutant.h"
#include "common/model/cell_codec.h"
#include "common/rpc/exceptions.h"
#include "regionserver/services/data_calls.h"
#include "regionserver/services/scan_session.h"

namespace ratchet::regionserver {
namespace {

constexpr std::uint32_t kUnlimited = INT32_MAX;  // what clients send for "as many as fit"

Error ScannerError(const Error& error) {
  switch (error.code()) {
    case Code::kNotFound: return rpc::RemoteError(rpc::exception::kUnknownScanner, error.message());
    case Code::kFailedPrecondition: return rpc::RemoteError(rpc::exception::kLease, error.message());
    case Code::kStale: return rpc::RemoteError(rpc::exception::kOutOfOrderScannerNext, error.message());
    default: return error;
  }
}

// The server has closed this scanner itself; clients may still come once more.
pb::ScanResponse FinishedResponse(std::uint64_t scanner_id, Millis lease) {
  pb::ScanResponse response;
  response.set_scanner_id(scanner_id);
  response.set_ttl(static_cast<std::uint32_t>(lease.count()));
  response.set_more_results(true);
  response.set_more_results_in_region(false);
  return response;
}

// A reply may take half of what the client or the lease allows; then it ends with what it has.
TimePoint DeadlineOf(const rpc::CallContext& context, Clock& clock, Millis lease) {
  Millis allowed = lease;
  if (context.timeout.count() > 0) allowed = std::min(allowed, context.timeout);
  return clock.Now() + allowed / 2;
}

ScanLimits LimitsOf(const pb::ScanRequest& request, const rpc::CallContext& context, const DataServiceParts& parts,
                    std::uint64_t wanted_bytes) {
  ScanLimits limits;
  limits.max_rows = request.has_number_of_rows() ? request.number_of_rows() : 1;
  if (limits.max_rows >= kUnlimited) limits.max_rows = 0;
  if (request.limit_of_rows() > 0) {
    limits.max_rows =
        limits.max_rows == 0 ? request.limit_of_rows() : std::min(limits.max_rows, request.limit_of_rows());
  }
  const std::uint64_t most_bytes = parts.max_result_bytes;
  limits.max_bytes = wanted_bytes == 0 ? most_bytes : std::min(wanted_bytes, most_bytes);
  limits.allow_partial = request.client_handles_partials();
  limits.allow_heartbeat = request.client_handles_heartbeats();
  limits.deadline = DeadlineOf(context, parts.clock, parts.scanners.lease());
  return limits;
}

// Puts results into the answer in whichever form the connection wants, each cell once; the two parallel lists are of
// the block form only.
class ResponseSink final : public ScanSink {
 public:
  ResponseSink(CellTarget target, pb::ScanResponse& response) : target_(target), response_(response) {}
  void Add(const CellView& cell) override {
    ++cells_;
    if (target_.block != nullptr) return AppendCell(cell, *target_.block, target_.tags);
    if (result_ == nullptr) result_ = response_.add_results();
    ToProto(cell, *result_->add_cell());
  }
  void EndResult(bool partial) override {
    if (target_.block != nullptr) {
      response_.add_cells_per_result(cells_);
      response_.add_partial_flag_per_result(partial);
    } else if (partial && result_ != nullptr) {
      result_->set_partial(true);
    }
    cells_ = 0;
    result_ = nullptr;
  }

 private:
  const CellTarget target_;
  pb::ScanResponse& response_;
  pb::Result* result_ = nullptr;
  std::uint32_t cells_ = 0;
};

// Whole milliseconds, as HBase counts it; less than one counts as one.
std::int64_t FileReadMillis(TimePoint::duration waited) {
  return (std::chrono::duration_cast<std::chrono::nanoseconds>(waited).count() + 999'999) / 1'000'000;
}

void FillMetrics(const ScanProgress& progress, pb::ScanResponse& response) {
  const auto add = [&response](const char* name, std::int64_t value) {
    auto* metric = response.mutable_scan_metrics()->add_metrics();
    metric->set_name(name);
    metric->set_value(value);
  };
  add("ROWS_SCANNED", static_cast<std::int64_t>(progress.rows_scanned));
  add("ROWS_FILTERED", static_cast<std::int64_t>(progress.rows_filtered));
  add("FS_READ_TIME", FileReadMillis(progress.file_wait));
}

// Reads one reply from the scanner.
ReadReply ReadReplyOf(ScanSession& session, const ReadFor& what, bool as_block) {
  ReadReply reply;
  ResponseSink sink({as_block ? &reply.block : nullptr, what.tags}, reply.response);
  if (as_block) reply.block.reserve(session.block_bytes);
  reply.chunk = session.scanner->Next(what.limits, sink);
  session.block_bytes = reply.block.size();
  return reply;
}

// What the scan is read ahead for, after this reply; nothing: it is not, or there is no room for it.
std::optional<ReadFor> BeginAhead(ScanSession& session, const pb::ScanRequest& request, const ReadFor& what,
                                  const ScanProgress& chunk) {
  constexpr std::uint32_t kFullReplies = 2;  // short scans are left alone
  const bool full = chunk.more_in_region && !chunk.heartbeat && chunk.results > 0;
  if (!full || ++session.full_replies < kFullReplies) return std::nullopt;
  // A client that counts down what it wants asks for less from call to call; others ask for the same.
  const bool plain = what.limits.allow_partial && request.limit_of_rows() == 0;
  if (!plain || !session.ahead.Begin(what)) return std::nullopt;
  return what;
}

}  // namespace

struct DataCalls::ScanAnswer {
  pb::ScanResponse response;
  std::string block;
  std::shared_ptr<ScanSession> session;  // that is to be read ahead
  ReadFor ahead;
};

Result<ScannerTable::Use> DataCalls::OpenScanner(const pb::ScanRequest& request, const rpc::CallContext& context,
                                                 Throttles::Use& limited) const {
  if (!request.has_region()) return rpc::RemoteError(rpc::exception::kDoNotRetryIo, "a scan needs a region");
  RATCHET_ASSIGN(const auto region, FindRegion(request.region()));
  RATCHET_ASSIGN(limited, Throttle(context, *region, {0, 1, 0, kBytesOfScan}));
  RATCHET_TRY(EnterMetaRead(*region, request.scan().attribute()));
  RATCHET_ASSIGN(ScanSpec spec, MakeScanSpec(request.scan()));
  const std::uint64_t filter_bytes = spec.filter == nullptr ? 0 : spec.filter->held_bytes();
  RATCHET_ASSIGN(auto scanner, region->Scan(std::move(spec)));
  auto session = std::make_shared<ScanSession>(region, std::move(scanner), request.scan(), parts_.ahead);
  constexpr std::uint64_t kSession = 4096;
  constexpr std::uint64_t kForms = 4;  // in which columns and rows are kept while it is open
  return parts_.scanners.Add(std::move(session), kSession + kForms * request.scan().ByteSizeLong() + filter_bytes);
}

Result<DataCalls::ScanAnswer> DataCalls::DoScan(const pb::ScanRequest& request, const rpc::CallContext& context) const {
  RATCHET_TRY(parts_.admit());
  const bool opens = !request.has_scanner_id();
  if (opens && !request.has_scan()) {
    return rpc::RemoteError(rpc::exception::kDoNotRetryIo, "neither a scan to open nor a scanner to continue");
  }
  Throttles::Use limited;
  auto use = opens ? OpenScanner(request, context, limited) : parts_.scanners.Find(request.scanner_id());
  if (!use.ok()) {
    if (use.error().code() == Code::kAborted)
      return ScanAnswer{FinishedResponse(request.scanner_id(), parts_.scanners.lease()), {}, {}, {}};
    if (!opens && request.close_scanner() && use.error().code() == Code::kNotFound) {
      return ScanAnswer{
          FinishedResponse(request.scanner_id(), parts_.scanners.lease()), {}, {}, {}};  // closing what is closed
    }
    return opens ? std::move(use).error() : ScannerError(use.error());
  }
  ScanSession& session = use->session();
  const bool only_closes = !opens && request.close_scanner() && !request.has_number_of_rows();
  if (!opens && !only_closes && !request.renew()) {  // before the call's number counts: it comes again with the same
    RATCHET_ASSIGN(limited, Throttle(context, *session.region, {0, 1, 0, kBytesOfScan}));
  }
  if (request.has_next_call_seq()) {
    if (Status in_order = session.CheckSequence(request.next_call_seq()); !in_order.ok()) {
      return ScannerError(in_order.error());
    }
  }
  ScanAnswer answer;
  pb::ScanResponse& response = answer.response;
  response.set_scanner_id(use->id());
  response.set_ttl(static_cast<std::uint32_t>(parts_.scanners.lease().count()));
  response.set_stale(false);
  response.set_more_results(true);
  if (opens) response.set_mvcc_read_point(session.scanner->read_point());

  const bool wants_none = request.has_number_of_rows() && request.number_of_rows() == 0;
  if (request.renew() || only_closes || wants_none) {
    response.set_more_results_in_region(true);
    if (request.close_scanner()) use->Close();
    return answer;
  }
  const CellTarget target = TargetOf(context, answer.block);
  const ReadFor what{LimitsOf(request, context, parts_, session.wanted_bytes), target.tags};
  auto ready = session.ahead.Take();
  if (ready && !(target.block != nullptr && ready->first.Answers(what, ready->second)) &&
      !RATCHET_MUTANT("scan.any_ahead")) {
    use->Close();  // what was read ahead cannot be given back
    return rpc::RemoteError(
        rpc::exception::kUnknownScanner,
        "the call asks for fewer rows than the one before, for which the next reply was read already: "
        "open the scanner again");
  }
  ReadReply reply = ready ? std::move(ready->second) : ReadReplyOf(session, what, target.block != nullptr);
  const Result<ScanProgress>& chunk = reply.chunk;
  answer.block = std::move(reply.block);
  response.MergeFrom(reply.response);
  if (limited.counts()) limited.HasRead(target.block != nullptr ? answer.block.size() : response.ByteSizeLong());
  Status serving = chunk.ok() ? CheckRead(*session.region) : Ok();
  if (!chunk.ok() || !serving.ok()) {
    use->Close();  // what was read is lost: the client starts again at the row that it has not finished (S30)
    return chunk.ok() ? serving.error() : chunk.error();
  }
  response.set_more_results_in_region(chunk->more_in_region);
  const bool all_wanted = request.limit_of_rows() > 0 && chunk->finished_rows >= request.limit_of_rows();
  if (all_wanted || (chunk->filter_done && chunk->results == 0)) response.set_more_results(false);
  if (chunk->heartbeat && chunk->more_in_region) {
    response.set_heartbeat_message(true);
    if (session.need_cursor && !chunk->cursor_row.empty()) response.mutable_cursor()->set_row(chunk->cursor_row);
  }
  if (request.track_scan_metrics()) FillMetrics(*chunk, response);
  if (!chunk->more_in_region || all_wanted) {
    use->Finish();
  } else if (request.close_scanner()) {
    use->Close();
  } else if (const auto ahead = target.block != nullptr ? BeginAhead(session, request, what, *chunk) : std::nullopt) {
    answer.ahead = *ahead;
    answer.session = use->shared_session();
  }
  return answer;
}

void DataCalls::Scan(const pb::ScanRequest& request, const rpc::Responder<pb::ScanResponse>& responder) const {
  auto answer = DoScan(request, responder.context());
  if (!answer.ok()) {
    responder.Fail(answer.error());
    return;
  }
  responder.Reply(answer->response, std::move(answer->block));
  if (answer->session == nullptr) return;
  ReadFor what = answer->ahead;
  what.limits.deadline = DeadlineOf(responder.context(), parts_.clock, parts_.scanners.lease());
  answer->session->ahead.End(ReadReplyOf(*answer->session, what, true));
}

}  // namespace ratchet::regionserver
