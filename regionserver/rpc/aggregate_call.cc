// AggregateService, which every region serves: a scan whose results stay on the server, with a few numbers as the
// answer.
#include <string>
#include <utility>

#include <fmt/format.h>

#include "common/model/message_limits.h"
#include "common/model/proto/aggregate.pb.h"
#include "common/rpc/exceptions.h"
#include "regionserver/rpc/aggregate.h"
#include "regionserver/rpc/data_service.h"

namespace ratchet::regionserver {
namespace {

constexpr std::uint64_t kBytesAtOnce = 2u << 20;  // bytes read between two checks of the clock

// A row that comes in several parts, because of the byte limits, counts as one row.
class AggregateSink final : public ScanSink {
 public:
  explicit AggregateSink(Aggregate& aggregate) : aggregate_(aggregate) {}
  void Add(const CellView& cell) override { aggregate_.Add(cell); }
  void EndResult(bool partial) override {
    if (!partial) aggregate_.EndRow();
  }

 private:
  Aggregate& aggregate_;
};

Error TookTooLong(Millis allowed) {
  return rpc::RemoteError(
      rpc::exception::kDoNotRetryIo,
      fmt::format("the aggregation did not finish within {} ms, the time limit of a scan's call: request "
                  "fewer rows, or raise the client's time-out and --scanner-lease-ms",
                  allowed.count()));
}

// A median's weights are in the last of several columns.
std::string WeightsOf(const pb::Scan& scan) {
  if (scan.column_size() == 0) return {};
  const pb::Column& column = scan.column(0);
  return column.qualifier_size() > 1 ? column.qualifier(column.qualifier_size() - 1) : std::string();
}

// One cell is enough to count a row.
void ReadFirstCellsOnly(pb::Scan& scan) {
  if (scan.has_filter()) return;
  for (const pb::Column& column : scan.column()) {
    if (column.qualifier_size() > 0) return;
  }
  scan.mutable_filter()->set_name("org.apache.hadoop.hbase.filter.FirstKeyOnlyFilter");
}

}  // namespace

Result<std::string> DataCalls::AggregateRows(Region& region, const pb::CoprocessorServiceCall& call,
                                             const rpc::CallContext& context) const {
  pb::AggregateRequest request;
  if (!ParseMessage(call.request(), request).ok())
    return rpc::RemoteError(rpc::exception::kDoNotRetryIo, "the request of AggregateService cannot be read");
  RATCHET_TRY(EnterMetaRead(region, request.scan().attribute()));
  pb::Scan& scan = *request.mutable_scan();
  RATCHET_ASSIGN(const auto aggregate,
                 MakeAggregate(call.method_name(), request.interpreter_class_name(), WeightsOf(scan)));
  if (aggregate->only_rows()) {
    ReadFirstCellsOnly(scan);
  } else if (scan.column_size() != 1) {
    return rpc::RemoteError(rpc::exception::kDoNotRetryIo, fmt::format("{}: the scan names {} column families, not one",
                                                                       call.method_name(), scan.column_size()));
  }
  RATCHET_ASSIGN(ScanSpec spec, MakeScanSpec(scan));
  RATCHET_TRY(rights_.Narrow(context, region, spec));
  RATCHET_ASSIGN(const auto scanner, region.Scan(std::move(spec)));
  Millis allowed = parts_.scanners.lease();
  if (context.timeout.count() > 0) allowed = std::min(allowed, context.timeout);
  ScanLimits limits;
  limits.max_bytes = kBytesAtOnce;
  limits.allow_partial = true;
  limits.allow_heartbeat = true;
  limits.deadline = context.received + allowed;
  AggregateSink sink(*aggregate);
  for (bool more = true; more;) {
    RATCHET_ASSIGN(const ScanProgress progress, scanner->Next(limits, sink));
    RATCHET_TRY(aggregate->problem());
    more = progress.more_in_region;
    if (more && parts_.clock.Now() >= limits.deadline) return TookTooLong(allowed);
  }
  RATCHET_TRY(CheckRead(region));
  return aggregate->Answer().SerializeAsString();
}

}  // namespace ratchet::regionserver
