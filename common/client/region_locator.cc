#include "common/client/region_locator.h"

#include <algorithm>
#include <iterator>

#include "common/base/mutant.h"
#include "common/model/cell_codec.h"
#include "common/model/codec.h"
#include "common/model/meta_row.h"
#include "common/model/proto/client.pb.h"
#include "common/model/proto/registry.pb.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/client_meta_service.h"
#include "common/rpc/methods/client_service.h"

namespace ratchet::client {
namespace {

Error NoSuchTable(const TableName& table) {
  return rpc::RemoteError(rpc::exception::kTableNotFound, fmt::format("table {} does not exist", table.ToString()));
}

Result<std::vector<RegionLocation>> Decode(const TableName& table, const hbase::pb::ScanResponse& response,
                                           std::string_view cells) {
  CellBlockReader block(cells);
  std::vector<std::vector<Cell>> rows;
  for (int i = 0; i < response.cells_per_result_size(); ++i) {
    RATCHET_ASSIGN(auto row, block.Take(response.cells_per_result(i)));
    rows.push_back(std::move(row));
  }
  for (const auto& result : response.results()) {
    RATCHET_ASSIGN(auto row, ReadResult(result, block));
    rows.push_back(std::move(row));
  }
  std::vector<RegionLocation> locations;
  for (const auto& row : rows) {
    auto decoded = DecodeMetaRow(row);
    if (!decoded.ok() && decoded.error().code() == Code::kNotFound) continue;
    if (!decoded.ok()) return decoded.error();
    if (decoded->region.table != table) continue;
    locations.push_back({decoded->region, decoded->server.value_or(ServerName{}), false});
  }
  return locations;
}

}  // namespace

Result<RegionLocation> RegionLocator::Locate(RetryLoop& loop, const TableName& table, std::string_view row) {
  if (table.IsMeta()) return LocateMeta(loop);
  {
    MutexLock lock(mutex_);
    const auto& regions = cache_[table];
    auto after = regions.upper_bound(row);
    if (after != regions.begin() && std::prev(after)->second.region.Contains(row)) return std::prev(after)->second;
  }
  for (;;) {
    RATCHET_ASSIGN(auto found, Search(loop, table, MetaSearchRow(table, row), true));
    if (!found) return NoSuchTable(table);
    const bool contains = found->region.Contains(row);
    if (contains && !found->server.empty()) {
      Remember(*found);
      return *std::move(found);
    }
    // There is a short gap in hbase:meta while other regions replace a region.
    RATCHET_TRY(
        loop.Pause(Error(Code::kUnavailable, contains ? "the region has no server yet" : "no region holds the row"),
                   "look-up of a region", Effect::kQueries));
  }
}

Result<RegionLocation> RegionLocator::LocateBefore(RetryLoop& loop, const RegionInfo& region) {
  for (;;) {
    RATCHET_ASSIGN(auto found, Search(loop, region.table, region.name(), false));
    if (!found) return NoSuchTable(region.table);
    if (!found->server.empty()) return *std::move(found);
    RATCHET_TRY(
        loop.Pause(Error(Code::kUnavailable, "the region has no server yet"), "look-up of a region", Effect::kQueries));
  }
}

namespace {

// Other regions have the rows of a parent that was split; its row stays until it is removed.
bool HasRows(const RegionLocation& location) { return !location.region.offline || !location.region.split; }

}  // namespace

Result<std::vector<RegionLocation>> RegionLocator::LocateAll(RetryLoop& loop, const TableName& table) {
  if (table.IsMeta()) {
    RATCHET_ASSIGN(auto location, LocateMeta(loop));
    return std::vector<RegionLocation>{location};
  }
  hbase::pb::Scan scan;
  scan.add_column()->set_family(std::string(meta::kInfoFamily));
  scan.set_stop_row(MetaStopRow(table));
  std::vector<RegionLocation> all;
  std::string from = MetaFirstRow(table);
  for (bool first = true;; first = false) {
    constexpr std::uint32_t kPage = 1000;
    scan.set_start_row(from);
    scan.set_include_start_row(first);
    RATCHET_ASSIGN(auto page, ScanMeta(loop, table, scan, kPage));
    if (page.empty()) return all;
    from = page.back().region.name();
    std::copy_if(page.begin(), page.end(), std::back_inserter(all), HasRows);
  }
}

Result<std::optional<RegionLocation>> RegionLocator::Search(RetryLoop& loop, const TableName& table, std::string from,
                                                            bool include_start) {
  constexpr std::uint32_t kRows = 3;  // the rows of daughters directly follow their parent's
  hbase::pb::Scan scan;
  scan.add_column()->set_family(std::string(meta::kInfoFamily));
  scan.set_stop_row(MetaFirstRow(table));
  scan.set_include_stop_row(true);
  scan.set_reversed(true);
  for (;;) {
    scan.set_start_row(from);
    scan.set_include_start_row(include_start);
    RATCHET_ASSIGN(auto found, ScanMeta(loop, table, scan, kRows));
    if (found.empty()) return std::optional<RegionLocation>();
    for (auto& location : found) {
      if (HasRows(location)) return std::optional(std::move(location));
    }
    from = found.back().region.name();
    include_start = false;
  }
}

std::optional<TableState> RegionLocator::StateOf(RetryLoop& loop, const TableName& table) {
  const auto meta = LocateMeta(loop);
  if (!meta.ok()) return std::nullopt;
  hbase::pb::GetRequest request;
  SpecifyRegion(meta->region, *request.mutable_region());
  request.mutable_get()->set_row(table.ToString());
  auto& column = *request.mutable_get()->add_column();  // the family also contains the path of the table's directory
  column.set_family(std::string(meta::kTableFamily));
  column.add_qualifier(std::string(meta::kTableState));
  rpc::CallOptions options;
  options.timeout = loop.AttemptTimeout(rpc_timeout_);
  options.priority = 200;
  const auto reply = pool_.CallSync(methods::kGet, meta->endpoint(), request, std::move(options));
  if (!reply.ok()) return std::nullopt;
  CellBlockReader block(reply->cells);
  const auto cells = ReadResult(reply->message.result(), block);
  if (!cells.ok() || cells->empty()) return std::nullopt;
  const auto state = DecodeTableState(cells->front().value);
  return state.ok() ? std::optional(*state) : std::nullopt;
}

Result<std::vector<RegionLocation>> RegionLocator::ScanMeta(RetryLoop& loop, const TableName& table,
                                                            const hbase::pb::Scan& scan, std::uint32_t rows) {
  for (;;) {
    RATCHET_ASSIGN(const RegionLocation meta, LocateMeta(loop));
    hbase::pb::ScanRequest request;
    SpecifyRegion(meta.region, *request.mutable_region());
    *request.mutable_scan() = scan;
    request.set_number_of_rows(rows);
    request.set_close_scanner(true);
    rpc::CallOptions options;
    options.timeout = loop.AttemptTimeout(rpc_timeout_);
    options.priority = 200;
    auto reply = pool_.CallSync(methods::kScan, meta.endpoint(), request, std::move(options));
    if (reply.ok()) return Decode(table, reply->message, reply->cells);
    if (reply.error().code() == Code::kInvalidArgument) return reply.error();
    Forget(meta);
    RATCHET_TRY(loop.Pause(reply.error().Annotate(fmt::format("hbase:meta on {}", meta.server.ToString())),
                           fmt::format("look-up of a region of {}", table.ToString()), Effect::kQueries));
  }
}

Result<RegionLocation> RegionLocator::LocateMeta(RetryLoop& loop) {
  {
    MutexLock lock(mutex_);
    if (meta_) return *meta_;
  }
  for (;;) {
    auto answer = master_.Call(loop, methods::kGetMetaRegionLocations, hbase::pb::GetMetaRegionLocationsRequest());
    if (!answer.ok()) return answer.error();
    for (const auto& location : answer->meta_locations()) {
      if (!location.has_server_name()) continue;
      RATCHET_ASSIGN(auto server, FromProto(location.server_name()));
      MutexLock lock(mutex_);
      meta_ = RegionLocation{MetaRegionInfo(), std::move(server), false};
      return *meta_;
    }
    RATCHET_TRY(
        loop.Pause(Error(Code::kUnavailable, "hbase:meta is not online"), "look-up of hbase:meta", Effect::kQueries));
  }
}

void RegionLocator::Remember(const RegionLocation& location) {
  MutexLock lock(mutex_);
  cache_[location.region.table][location.region.start_key] = location;
}

void RegionLocator::Forget(const RegionLocation& location) {
  MutexLock lock(mutex_);
  if (location.region.IsMeta()) {
    if (meta_ && meta_->server == location.server) meta_.reset();
    return;
  }
  auto& regions = cache_[location.region.table];
  const auto found = regions.find(location.region.start_key);
  if (found != regions.end() && found->second.server == location.server) regions.erase(found);
}

void RegionLocator::ForgetServer(const RegionLocation& location) {
  MutexLock lock(mutex_);
  if (meta_ && meta_->server == location.server) meta_.reset();
  for (auto& [table, regions] : cache_) {
    std::erase_if(regions, [&](const auto& entry) { return entry.second.server == location.server; });
  }
}

void RegionLocator::Moved(const RegionLocation& location, const ServerName& server) {
  Forget(location);
  if (!location.hinted || RATCHET_MUTANT("client.follow_hints")) Remember({location.region, server, true});
}

}  // namespace ratchet::client
