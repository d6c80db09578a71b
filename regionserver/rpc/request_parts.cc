#include "regionserver/rpc/request_parts.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include <fmt/core.h>

#include "common/model/attributes.h"
#include "common/model/cell.h"
#include "common/model/cell_tags.h"
#include "common/model/proto/filter.pb.h"
#include "common/model/replication_peer.h"
#include "common/rpc/exceptions.h"
#include "regionserver/filter/comparator_kinds.h"
#include "regionserver/filter/filter_decoder.h"

namespace ratchet::regionserver {
namespace {

Error DoNotRetry(std::string message) { return rpc::RemoteError(rpc::exception::kDoNotRetryIo, std::move(message)); }

// Times travel unsigned; Long.MAX_VALUE and anything above it mean "no bound".
constexpr std::int64_t kLongestAgeMs = 1'000'000'000'000;  // thirty years: a client with a longer time means "no limit"

std::int64_t Bounded(std::uint64_t time) { return static_cast<std::int64_t>(std::min<std::uint64_t>(time, INT64_MAX)); }

TimeRange MakeTimeRange(const pb::TimeRange& range) {
  TimeRange result;
  if (range.has_from()) result.from = Bounded(range.from());
  if (range.has_to()) result.to = Bounded(range.to());
  return result;
}

// Seed for filters that choose at random: a different one for each request.
std::uint64_t NextSeed() {
  static std::atomic<std::uint64_t> requests{0};
  return requests.fetch_add(1, std::memory_order_relaxed) * 0x9e3779b97f4a7c15u;
}

// Get and Scan have the same names for these fields.
template <class Message>
Status FillReadSpec(const Message& message, bool reversed, ReadSpec& spec) {
  const auto raw = FindAttribute(message.attribute(), "_raw_");
  spec.raw = raw.has_value() && !raw->empty() && raw->front() != 0;
  for (const auto& column : message.column()) {
    if (spec.raw && column.qualifier_size() > 0) return DoNotRetry("Cannot specify any column for a raw scan");
  }
  if (message.has_filter()) {
    RATCHET_ASSIGN(spec.filter, DecodeFilter(message.filter(), {reversed, NextSeed()}));
  }
  for (const auto& column : message.column()) {
    auto& qualifiers = spec.columns[column.family()];
    qualifiers.insert(qualifiers.end(), column.qualifier().begin(), column.qualifier().end());
  }
  if (message.has_time_range()) spec.time_range = MakeTimeRange(message.time_range());
  for (const auto& range : message.cf_time_range()) {
    spec.family_time_ranges[range.column_family()] = MakeTimeRange(range.time_range());
  }
  spec.max_versions = message.max_versions();
  if (spec.max_versions == 0) return DoNotRetry("max_versions must be positive");
  if (message.has_store_limit()) spec.store_limit = message.store_limit();
  spec.store_offset = message.store_offset();
  return Ok();
}

Result<MutationKind> KindOf(const pb::MutationProto& mutation) {
  switch (mutation.mutate_type()) {
    case pb::MutationProto::PUT: return MutationKind::kPut;
    case pb::MutationProto::DELETE: return MutationKind::kDelete;
    case pb::MutationProto::APPEND: return MutationKind::kAppend;
    case pb::MutationProto::INCREMENT: return MutationKind::kIncrement;
  }
  return DoNotRetry("unknown kind of mutation");
}

Result<CompareOp> OpOf(pb::CompareType type) {
  switch (type) {
    case pb::LESS: return CompareOp::kLess;
    case pb::LESS_OR_EQUAL: return CompareOp::kLessOrEqual;
    case pb::EQUAL: return CompareOp::kEqual;
    case pb::NOT_EQUAL: return CompareOp::kNotEqual;
    case pb::GREATER_OR_EQUAL: return CompareOp::kGreaterOrEqual;
    case pb::GREATER: return CompareOp::kGreater;
    case pb::NO_OP: break;
  }
  return DoNotRetry("NO_OP is not a valid condition");
}

}  // namespace

std::optional<std::string_view> FindAttribute(const PbAttributes& attributes, std::string_view name) {
  for (const auto& attribute : attributes) {
    if (attribute.name() == name) return attribute.value();
  }
  return std::nullopt;
}

Result<std::optional<std::int64_t>> NumberAttribute(const PbAttributes& attributes, std::string_view name) {
  const auto bytes = FindAttribute(attributes, name);
  if (!bytes.has_value()) return std::optional<std::int64_t>();
  std::int64_t value = 0;
  if (!DecodeInt64(*bytes, value)) return DoNotRetry(fmt::format("attribute {} is not 8 bytes long", name));
  return std::optional<std::int64_t>(value);
}

// As in HBase: the first eight bytes count, INT64_MAX means "none", and 0 or less means that the cells have expired.
Result<std::optional<std::int64_t>> TtlAttribute(const PbAttributes& attributes) {
  const auto bytes = FindAttribute(attributes, kTtlAttribute);
  if (!bytes.has_value()) return std::optional<std::int64_t>();
  std::int64_t ttl_ms = 0;
  if (!DecodeInt64(std::string_view(*bytes).substr(0, sizeof ttl_ms), ttl_ms))
    return DoNotRetry(fmt::format("attribute {} has {} bytes; it must have 8", kTtlAttribute, bytes->size()));
  return ttl_ms == INT64_MAX ? std::optional<std::int64_t>() : ttl_ms;
}

bool WantsResults(const PbAttributes& attributes) {
  const auto bytes = FindAttribute(attributes, kReturnAttribute);
  return !bytes.has_value() || bytes->empty() || bytes->front() != 0;
}

Result<GetSpec> MakeGetSpec(const pb::Get& get, bool meta) {
  GetSpec spec;
  RATCHET_TRY(FillReadSpec(get, false, spec));
  spec.row = get.row();
  if (get.existence_only()) spec.most_cells = 1;
  spec.closest_row_before = get.closest_row_before();
  if (spec.closest_row_before && !meta) {
    // This error class makes old clients switch to reverse scans.
    return rpc::RemoteError(rpc::exception::kUnknownProtocol, "closest_row_before is supported only on hbase:meta");
  }
  return spec;
}

Result<ScanSpec> MakeScanSpec(const pb::Scan& scan) {
  ScanSpec spec;
  RATCHET_TRY(FillReadSpec(scan, scan.reversed(), spec));
  spec.start_row = scan.start_row();
  spec.stop_row = scan.stop_row();
  spec.include_start_row = scan.include_start_row();
  spec.include_stop_row = scan.include_stop_row();
  spec.reversed = scan.reversed();
  spec.batch_cells = scan.batch_size();
  if (spec.filter != nullptr && spec.filter->judges_rows() && spec.batch_cells > 0) {
    return DoNotRetry("Cannot set batch on a scan using a filter that returns true for filter.hasFilterRow");
  }
  spec.read_point = scan.mvcc_read_point();
  // Old clients send a scan from a row to the same row to read that one row.
  if (!scan.has_include_stop_row() && !spec.start_row.empty() && spec.start_row == spec.stop_row) {
    spec.include_stop_row = true;
  }
  return spec;
}

// Parses one id a line.
static Result<std::vector<std::string>> PassedClusters(const PbAttributes& attributes) {
  std::vector<std::string> ids;
  auto text = FindAttribute(attributes, kClusterIdsAttribute).value_or(std::string_view());
  while (!text.empty()) {
    const auto end = text.find('\n');
    if (ids.size() == kMostClusterIds)
      return DoNotRetry(fmt::format("the mutation has passed more than {} clusters", kMostClusterIds));
    ids.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return ids;
}

Result<Mutation> MakeMutation(const pb::MutationProto& mutation, std::uint64_t nonce_group, std::int64_t now_ms,
                              CellBlockReader& block) {
  auto cells = ReadMutationCells(mutation, block);
  if (!cells.ok()) return Error(Code::kCorruption, cells.error().message(), std::string(rpc::exception::kDoNotRetryIo));
  for (const char* protection : {"VISIBILITY", "acl"}) {
    if (FindAttribute(mutation.attribute(), protection).has_value()) {
      return DoNotRetry(
          fmt::format("attribute {}: visibility labels and access lists of cells are not supported, the cells would be "
                      "stored without protection",
                      protection));
    }
  }
  Mutation result;
  result.cells = std::move(*cells);
  RATCHET_ASSIGN(result.kind, KindOf(mutation));
  result.row = mutation.row();
  if (!mutation.has_row() && !result.cells.empty()) result.row = result.cells.front().row;
  if (result.row.empty()) return DoNotRetry("a mutation needs a row");
  if (result.row.size() > kMaxRowLength) return DoNotRetry(fmt::format("the row is {} bytes long", result.row.size()));
  if (result.cells.empty() && result.kind != MutationKind::kDelete) return DoNotRetry("No columns to insert");
  for (const Cell& cell : result.cells) {
    if (cell.row != result.row) return DoNotRetry("a cell of the mutation belongs to another row");
    if (const auto type = ProtectionTagIn(cell.tags)) {
      return DoNotRetry(
          fmt::format("a cell has a tag of type {}: visibility labels and access lists of cells are not "
                      "supported, the cell would be stored without protection",
                      *type));
    }
  }
  if (mutation.has_timestamp()) result.timestamp = Bounded(mutation.timestamp());
  if (mutation.has_time_range()) result.time_range = MakeTimeRange(mutation.time_range());
  RATCHET_ASSIGN(result.ttl_ms, TtlAttribute(mutation.attribute()));
  RATCHET_ASSIGN(result.cluster_ids, PassedClusters(mutation.attribute()));
  result.return_result = WantsResults(mutation.attribute());
  result.nonce.group = nonce_group;
  result.nonce.value = mutation.nonce();
  RATCHET_ASSIGN(const auto age_ms, NumberAttribute(mutation.attribute(), kNonceAgeAttribute));
  if (age_ms.has_value()) result.nonce.begun_ms = now_ms - std::clamp<std::int64_t>(*age_ms, 0, kLongestAgeMs);
  return result;
}

Result<Condition> MakeCondition(const pb::Condition& condition) {
  Condition result;
  result.row = condition.row();
  result.family = condition.family();
  result.qualifier = condition.qualifier();
  if (condition.has_time_range()) result.time_range = MakeTimeRange(condition.time_range());
  if (condition.has_filter()) {
    RATCHET_ASSIGN(result.filter, DecodeFilter(condition.filter(), {false, NextSeed()}));
    return result;
  }
  RATCHET_ASSIGN(result.op, OpOf(condition.compare_type()));
  RATCHET_ASSIGN(result.comparator, filters::DecodeComparator(condition.comparator()));
  return result;
}

}  // namespace ratchet::regionserver
