#include "common/client/scanner.h"

#include <algorithm>

#include "common/base/mutant.h"
#include "common/client/region_retry.h"
#include "common/client/wire_requests.h"
#include "common/model/cell_codec.h"
#include "common/model/codec.h"
#include "common/model/proto/client.pb.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/client_service.h"

namespace ratchet::client {

Scanner::Scanner(Connection& connection, TableName table, Scan scan, Millis timeout)
    : connection_(connection),
      table_(std::move(table)),
      scan_(std::move(scan)),
      timeout_(timeout),
      position_(scan_.start_row),
      include_position_(scan_.include_start),
      bytes_per_call_(scan_.bytes_per_call) {}

Result<std::optional<Row>> Scanner::Next() {
  if (scan_.limit != 0 && returned_ == scan_.limit) return std::optional<Row>();
  while (ready_.empty() && !finished_) RATCHET_TRY(Fetch());
  if (ready_.empty()) return std::optional<Row>();
  std::optional<Row> row(std::move(ready_.front()));
  ready_.pop_front();
  ++returned_;
  return row;
}

Status Scanner::Fetch() {
  RetryLoop loop = connection_.NewLoop(timeout_);
  for (;;) {
    if (!region_) {
      RATCHET_ASSIGN(region_, NextRegion(loop));
    }
    hbase::pb::ScanRequest request;
    FillRequest(request);
    loop.Attempt(fmt::format("asking {} (scan of table {})", region_->server.ToString(), table_.ToString()));
    rpc::CallOptions options;
    options.timeout = loop.AttemptTimeout(connection_.options().rpc_timeout);
    auto reply = connection_.pool().CallSync(methods::kScan, region_->endpoint(), request, std::move(options));
    if (reply.ok()) {
      const auto& response = reply->message;
      if (response.has_scanner_id()) scanner_id_.value = response.scanner_id();
      ++next_call_;
      RATCHET_TRY(AddRows(response, reply->cells));
      if (response.has_more_results_in_region() && !response.more_results_in_region()) {
        EndRegion();
      }
      if (response.has_more_results() && !response.more_results()) {
        FinishRow();
        scanner_id_.value.reset();  // the server has closed it
        finished_ = true;
      }
      return Ok();
    }
    const Error& error = reply.error();
    const bool reopen = rpc::IsClass(error, rpc::exception::kUnknownScanner) ||
                        rpc::IsClass(error, rpc::exception::kOutOfOrderScannerNext) ||
                        rpc::IsClass(error, rpc::exception::kScannerReset) ||
                        rpc::IsClass(error, rpc::exception::kLease);
    if (!reopen && !PrepareRetry(connection_.locator(), *region_, error)) return error;
    RATCHET_TRY(CheckNotDisabled(connection_.locator(), loop, table_, error));
    const Status pause = loop.Pause(error.Annotate(region_->server.ToString()),
                                    fmt::format("scan of table {}", table_.ToString()), Effect::kQueries);
    Restart();
    RATCHET_TRY(pause);
  }
}

Result<RegionLocation> Scanner::NextRegion(RetryLoop& loop) {
  if (!scan_.reversed) return connection_.locator().Locate(loop, table_, position_);
  if (previous_) return connection_.locator().LocateBefore(loop, *previous_);
  if (!position_.empty()) return connection_.locator().Locate(loop, table_, position_);
  // A reversed scan without a start begins in the last region of the table.
  RATCHET_ASSIGN(auto all, connection_.locator().LocateAll(loop, table_));
  if (all.empty()) {
    return rpc::RemoteError(rpc::exception::kTableNotFound, fmt::format("table {} does not exist", table_.ToString()));
  }
  return connection_.locator().Locate(loop, table_, all.back().region.start_key);
}

void Scanner::FillRequest(hbase::pb::ScanRequest& request) const {
  request.set_number_of_rows(scan_.rows_per_call);
  request.set_client_handles_partials(true);
  request.set_client_handles_heartbeats(true);
  if (scanner_id_.value) {
    request.set_scanner_id(*scanner_id_.value);
    request.set_next_call_seq(next_call_);
    return;
  }
  Scan scan = scan_;
  scan.start_row = position_;
  scan.include_start = include_position_;
  scan.bytes_per_call = bytes_per_call_;
  ToProto(scan, *request.mutable_scan());
  SpecifyRegion(region_->region, *request.mutable_region());
  if (scan_.limit != 0) {
    const std::uint64_t left = scan_.limit - returned_ - ready_.size();
    request.set_limit_of_rows(static_cast<std::uint32_t>(std::min<std::uint64_t>(left, UINT32_MAX)));
  }
}

Status Scanner::AddRows(const hbase::pb::ScanResponse& response, std::string_view cells) {
  CellBlockReader block(cells);
  for (int i = 0; i < response.cells_per_result_size(); ++i) {
    RATCHET_ASSIGN(auto row, block.Take(response.cells_per_result(i)));
    RATCHET_TRY(
        AddCells(std::move(row), i < response.partial_flag_per_result_size() && response.partial_flag_per_result(i)));
  }
  for (const auto& result : response.results()) {
    RATCHET_ASSIGN(auto row, ReadResult(result, block));
    RATCHET_TRY(AddCells(std::move(row), result.partial()));
  }
  return Ok();
}

Status Scanner::AddCells(std::vector<Cell> cells, bool partial) {
  if (cells.empty()) return Ok();
  if (unfinished_ && unfinished_->key != cells.front().row) FinishRow();  // the cut was exactly at the row's end
  if (!unfinished_) unfinished_ = Row{cells.front().row, {}, false};
  auto& into = unfinished_->cells;
  into.insert(into.end(), std::make_move_iterator(cells.begin()), std::make_move_iterator(cells.end()));
  if (!partial) FinishRow();
  return Ok();
}

void Scanner::FinishRow() {
  if (!unfinished_) return;
  position_ = unfinished_->key;
  include_position_ = false;
  ready_.push_back(std::move(*unfinished_));
  unfinished_.reset();
}

void Scanner::CloseOnServer() {
  if (!scanner_id_.value || !region_) return;
  hbase::pb::ScanRequest request;
  request.set_scanner_id(*scanner_id_.value);
  request.set_close_scanner(true);
  request.set_number_of_rows(0);
  rpc::CallOptions options;
  options.timeout = connection_.options().rpc_timeout;
  scanner_id_.value.reset();
  connection_.pool().Call(methods::kScan, region_->endpoint(), request, std::move(options),
                          [](const Result<rpc::Reply<hbase::pb::ScanResponse>>&) {});  // otherwise the lease ends it
}

void Scanner::EndRegion() {
  FinishRow();
  const RegionInfo done = region_->region;
  const std::string& edge = scan_.reversed ? done.start_key : done.end_key;
  const bool beyond_stop = !scan_.stop_row.empty() &&
                           (scan_.reversed ? edge <= scan_.stop_row && !(scan_.include_stop && edge > scan_.stop_row)
                                           : edge > scan_.stop_row || (edge == scan_.stop_row && !scan_.include_stop));
  region_.reset();
  scanner_id_.value.reset();  // the server has closed it
  next_call_ = 0;
  if (edge.empty() || beyond_stop) {
    finished_ = true;
    return;
  }
  if (scan_.reversed) {
    previous_ = done;  // rows below its start key; the position stays exclusive at the key
    position_ = edge;
    include_position_ = false;
  } else {
    position_ = edge;
    include_position_ = true;
  }
}

void Scanner::Restart() {
  CloseOnServer();
  region_.reset();
  scanner_id_.value.reset();
  next_call_ = 0;
  constexpr std::uint64_t kLeast = 64U << 10U;
  constexpr std::uint64_t kMost = 256U << 20U;
  // A row that is written all the time may lose its place between any two replies.
  if (unfinished_ && bytes_per_call_ != 0 && bytes_per_call_ < kMost && !RATCHET_MUTANT("client.same_reply_size"))
    bytes_per_call_ = std::max(kLeast, 2 * bytes_per_call_);
  // S30 (scan belongs to one opening): so does each row.
  if (!RATCHET_MUTANT("client.keep_half_row")) unfinished_.reset();
  if (scan_.reversed && previous_ && position_ != previous_->start_key) previous_.reset();
}

}  // namespace ratchet::client
