// ClientService.Scan: opens, continues, renews and closes scanners (docs/wire-compatibility.md).
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "common/base/mutant.h"
#include "common/model/cell_codec.h"
#include "common/rpc/exceptions.h"
#include "regionserver/region/region.h"
#include "regionserver/rpc/data_rights.h"
#include "regionserver/rpc/data_service.h"
#include "regionserver/rpc/read_ahead.h"

namespace ratchet::regionserver {

// One client's open scan of one region, between its calls. It belongs to one opening of the region (S30: scan belongs
// to one opening). ScannerTable makes sure that one call at a time uses it.
class ScanSession {
 public:
  ScanSession(std::shared_ptr<Region> region_in, std::unique_ptr<Scanner> scanner_in, const ::hbase::pb::Scan& scan,
              std::shared_ptr<AheadBudget> budget)
      : ahead(std::move(budget)),
        region(std::move(region_in)),
        scanner(std::move(scanner_in)),
        wanted_bytes(scan.max_result_size()),
        need_cursor(scan.need_cursor_result()) {}

  // Clients that number their calls start at 0. kStale when this is not the next number.
  [[nodiscard]] Status CheckSequence(std::uint64_t sequence) {
    if (sequence != next_sequence_) {
      return Error(Code::kStale, fmt::format("expected next_call_seq {}, got {}", next_sequence_, sequence));
    }
    ++next_sequence_;
    return Ok();
  }

  // The rights under which the scanner was opened: a change of rights is judged before the next reply.
  struct Judged {
    DataRights::Basis basis;
    bool narrowed = false;    // counts of rows would reveal hidden ones
    ReadSpec asked;           // the columns of the request
    ColumnSelection columns;  // the columns that are read
  };
  Judged judged;

  ReadAhead ahead;
  std::size_t block_bytes = 0;           // size of the previous reply: the next one is likely as large
  std::uint32_t full_replies = 0;        // number of full replies so far
  const std::shared_ptr<Region> region;  // outlives the scanner
  const std::unique_ptr<Scanner> scanner;
  const std::uint64_t wanted_bytes;  // 0: the server decides
  bool need_cursor;

 private:
  std::uint64_t next_sequence_ = 0;
};

namespace {

constexpr std::uint32_t kUnlimited = INT32_MAX;  // clients send it for "all that fit"

Error ScannerError(const Error& error) {
  switch (error.code()) {
    case Code::kNotFound: return rpc::RemoteError(rpc::exception::kUnknownScanner, error.message());
    case Code::kFailedPrecondition: return rpc::RemoteError(rpc::exception::kLease, error.message());
    case Code::kStale: return rpc::RemoteError(rpc::exception::kOutOfOrderScannerNext, error.message());
    default: return error;
  }
}

ScannerOwner OwnerOf(const rpc::CallContext& context, const Region& region) {
  using Kind = ScannerOwner::Kind;
  const bool of_system = region.info().table.IsSystem();
  return {context.member ? Kind::kMember
          : of_system    ? Kind::kSystemTable
                         : Kind::kUserTable,
          context.connection, context.user, context.peer};
}

// For a scanner that the server has closed itself; clients may call it once more.
pb::ScanResponse FinishedResponse(std::uint64_t scanner_id, Millis lease) {
  pb::ScanResponse response;
  response.set_scanner_id(scanner_id);
  response.set_ttl(static_cast<std::uint32_t>(lease.count()));
  response.set_more_results(true);
  response.set_more_results_in_region(false);
  return response;
}

// A reply may take half of the time that the client or the lease allows; then it ends with the results so far.
TimePoint DeadlineOf(const rpc::CallContext& context, Clock& clock, Millis lease) {
  Millis allowed = lease;
  if (context.timeout.count() > 0) allowed = std::min(allowed, context.timeout);
  return clock.Now() + allowed / 2;
}

ScanLimits LimitsOf(const pb::ScanRequest& request, const rpc::CallContext& context, const DataServiceParts& parts,
                    std::uint64_t wanted_bytes) {
  ScanLimits limits;
  limits.max_results = request.has_number_of_rows() ? request.number_of_rows() : 1;
  if (limits.max_results >= kUnlimited) limits.max_results = 0;
  limits.max_rows = request.limit_of_rows();
  const std::uint64_t most_bytes = parts.options.max_result_bytes;
  limits.max_bytes = wanted_bytes == 0 ? most_bytes : std::min(wanted_bytes, most_bytes);
  limits.allow_partial = request.client_handles_partials();
  limits.allow_heartbeat = request.client_handles_heartbeats();
  limits.deadline = DeadlineOf(context, parts.clock, parts.scanners.lease());
  limits.abandoned = context.deadline;
  return limits;
}

// Puts results into the answer in the form that the connection wants, each cell once; only the block form has the two
// parallel lists.
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

// Returns whole milliseconds, as in HBase; less than one counts as one.
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

// Begins to read ahead after this reply. Returns its parameters; nullopt when the scan does not qualify or the budget
// is used up.
std::optional<ReadFor> BeginAhead(ScanSession& session, const pb::ScanRequest& request, const ReadFor& what,
                                  const ScanProgress& chunk) {
  constexpr std::uint32_t kFullReplies = 2;  // no read-ahead for short scans
  const bool full = chunk.more_in_region && !chunk.heartbeat && chunk.results > 0;
  if (!full || ++session.full_replies < kFullReplies) return std::nullopt;
  // A client with a limit of rows asks for fewer from call to call; other clients repeat the same limits.
  const bool plain = what.limits.allow_partial && request.limit_of_rows() == 0;
  if (!plain || !session.ahead.Begin(what)) return std::nullopt;
  return what;
}

}  // namespace

struct DataCalls::ScanAnswer {
  pb::ScanResponse response;
  std::string block;
  std::shared_ptr<ScanSession> session;  // the session that is read ahead
  ReadFor ahead;
};

Result<ScannerTable::Use> DataCalls::OpenScanner(const pb::ScanRequest& request, const rpc::CallContext& context,
                                                 Throttles::Use& limited) const {
  if (!request.has_region()) return rpc::RemoteError(rpc::exception::kDoNotRetryIo, "a scan needs a region");
  RATCHET_ASSIGN(const auto region, FindRegion(request.region()));
  RATCHET_ASSIGN(limited, Throttle(context, *region, {0, 1, 0, kBytesOfScan}));
  RATCHET_TRY(EnterMetaRead(*region, request.scan().attribute()));
  RATCHET_ASSIGN(ScanSpec spec, MakeScanSpec(request.scan()));
  ScanSession::Judged judged;
  // Read before the judgement, so that a change meanwhile is judged again; so is the change of the mode to enforce.
  if (rights_.enforces()) judged.basis = rights_.basis();
  judged.asked.columns = spec.columns;
  judged.asked.raw = spec.raw;
  RATCHET_ASSIGN(const DataRights::Read read, rights_.Narrow(context, *region, spec));
  judged.columns = spec.columns;
  judged.narrowed = read == DataRights::Read::kNarrowed;
  const std::uint64_t filter_bytes = spec.filter == nullptr ? 0 : spec.filter->held_bytes();
  RATCHET_ASSIGN(auto scanner, region->Scan(std::move(spec)));
  auto session = std::make_shared<ScanSession>(region, std::move(scanner), request.scan(), parts_.ahead);
  if (read == DataRights::Read::kNarrowed) session->need_cursor = false;  // it may name a row that is hidden
  session->judged = std::move(judged);
  constexpr std::uint64_t kSession = 4096;
  constexpr std::uint64_t kForms = 4;  // forms in which columns and rows are kept while it is open
  return parts_.scanners.Add(std::move(session), kSession + kForms * request.scan().ByteSizeLong() + filter_bytes,
                             OwnerOf(context, *region));
}

// A scan that was opened under earlier rights ends if the user may read less now, or something else.
Status DataCalls::JudgeAgain(const rpc::CallContext& context, ScannerTable::Use& use) const {
  ScanSession::Judged& judged = use.session().judged;
  const DataRights::Basis basis = rights_.basis();
  if (!rights_.enforces() || context.member || basis == judged.basis) return Ok();
  ReadSpec now;
  now.columns = judged.asked.columns;
  now.raw = judged.asked.raw;
  const auto read = rights_.Narrow(context, *use.session().region, now);
  if (read.ok() && now.columns == judged.columns) {
    judged.basis = basis;
    return Ok();
  }
  use.Close();
  if (!read.ok()) return read.error();
  return rpc::RemoteError(rpc::exception::kUnknownScanner,
                          "the rights of the user have changed: open the scanner again");
}

// The answer to a call whose scanner is finished or unknown, or could not be opened.
Result<DataCalls::ScanAnswer> DataCalls::AnswerWithoutScanner(const pb::ScanRequest& request, const Error& why) const {
  const bool opens = !request.has_scanner_id();
  const bool closed_before = !opens && request.close_scanner() && why.code() == Code::kNotFound;
  if (why.code() == Code::kAborted || closed_before)
    return ScanAnswer{FinishedResponse(request.scanner_id(), parts_.scanners.lease()), {}, {}, {}};
  return opens ? why : ScannerError(why);
}

Result<DataCalls::ScanAnswer> DataCalls::DoScan(const pb::ScanRequest& request, const rpc::CallContext& context) const {
  RATCHET_TRY(parts_.admit());
  const bool opens = !request.has_scanner_id();
  if (opens && !request.has_scan()) {
    return rpc::RemoteError(rpc::exception::kDoNotRetryIo, "neither a scan to open nor a scanner to continue");
  }
  Throttles::Use limited;
  const bool owned = rights_.enforces() && !context.member;
  auto use = opens ? OpenScanner(request, context, limited)
                   : parts_.scanners.Find(request.scanner_id(), context.connection, owned ? &context.user : nullptr);
  if (!use.ok()) return AnswerWithoutScanner(request, use.error());
  ScanSession& session = use->session();
  if (!opens) RATCHET_TRY(JudgeAgain(context, *use));
  const bool only_closes = !opens && request.close_scanner() && !request.has_number_of_rows();
  // checked before the call's number counts, because the client repeats the number
  if (!opens && !only_closes && !request.renew()) {
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
  RATCHET_TRY(ReadNext(request, context, *use, limited, answer));
  return answer;
}

// The next reply: what was read ahead, or what is read now. Afterwards the scanner rests, or is closed.
Status DataCalls::ReadNext(const pb::ScanRequest& request, const rpc::CallContext& context, ScannerTable::Use& use,
                           Throttles::Use& limited, ScanAnswer& answer) const {
  ScanSession& session = use.session();
  pb::ScanResponse& response = answer.response;
  const CellTarget target = TargetOf(context, answer.block);
  const ReadFor what{LimitsOf(request, context, parts_, session.wanted_bytes), target.tags};
  auto ready = session.ahead.Take();
  if (ready && !(target.block != nullptr && ready->first.Answers(what, ready->second)) &&
      !RATCHET_MUTANT("scan.any_ahead")) {
    use.Close();  // the rows that were read ahead cannot be returned to the scanner
    return rpc::RemoteError(
        rpc::exception::kUnknownScanner,
        "the call asks for fewer rows than the previous one, for which the next reply was read ahead: "
        "open the scanner again");
  }
  ReadReply reply = ready ? std::move(ready->second) : ReadReplyOf(session, what, target.block != nullptr);
  const Result<ScanProgress>& chunk = reply.chunk;
  answer.block = std::move(reply.block);
  response.MergeFrom(reply.response);
  if (limited.counts()) limited.HasRead(target.block != nullptr ? answer.block.size() : response.ByteSizeLong());
  Status serving = chunk.ok() ? CheckRead(*session.region) : Ok();
  if (!chunk.ok() || !serving.ok()) {
    // the read rows are lost; the client restarts at the row that it has not finished (S30: scan belongs to one
    // opening)
    use.Close();
    return chunk.ok() ? serving.error() : chunk.error();
  }
  response.set_more_results_in_region(chunk->more_in_region);
  const bool all_wanted = request.limit_of_rows() > 0 && chunk->finished_rows >= request.limit_of_rows();
  if (all_wanted || (chunk->filter_done && chunk->results == 0)) response.set_more_results(false);
  if (chunk->heartbeat && chunk->more_in_region) {
    response.set_heartbeat_message(true);
    if (session.need_cursor && !chunk->cursor_row.empty()) response.mutable_cursor()->set_row(chunk->cursor_row);
  }
  if (request.track_scan_metrics() && !session.judged.narrowed) FillMetrics(*chunk, response);
  if (!chunk->more_in_region || all_wanted) {
    use.Finish();
  } else if (request.close_scanner()) {
    use.Close();
  } else if (const auto ahead = target.block != nullptr ? BeginAhead(session, request, what, *chunk) : std::nullopt) {
    answer.ahead = *ahead;
    answer.session = use.shared_session();
  }
  return Ok();
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
  what.limits.abandoned = TimePoint::max();  // the next call waits for it
  answer->session->ahead.End(ReadReplyOf(*answer->session, what, true));
}

}  // namespace ratchet::regionserver
