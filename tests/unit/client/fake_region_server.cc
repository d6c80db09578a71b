// The data side of the fake cluster.
#include <algorithm>

#include "common/model/cell_codec.h"
#include "common/model/codec.h"
#include "common/model/meta_row.h"
#include "common/rpc/exceptions.h"
#include "tests/unit/client/fake_cluster.h"

namespace ratchet::client {

namespace pb = hbase::pb;

namespace {

// The cells of a row that a request names by family and qualifier.
std::vector<Cell> Selected(const std::vector<Cell>& row, const pb::Get& get) {
  std::vector<Cell> selected;
  for (const Cell& cell : row) {
    const bool wanted = std::any_of(get.column().begin(), get.column().end(), [&](const pb::Column& column) {
      const auto& names = column.qualifier();
      return column.family() == cell.family &&
             (names.empty() || std::find(names.begin(), names.end(), cell.qualifier) != names.end());
    });
    if (get.column().empty() || wanted) selected.push_back(cell);
  }
  return selected;
}

}  // namespace

Result<FakeCluster::Region> FakeCluster::Serving(int server, const pb::RegionSpecifier& specifier) {
  RATCHET_ASSIGN(const std::string encoded, EncodedNameOf(specifier));
  if (encoded == kMetaEncodedName && server == 0) return Region{MetaRegionInfo(), 0};
  for (const Region& region : regions_) {
    if (region.info.encoded_name() != encoded || region.info.split) continue;
    if (region.server == static_cast<std::size_t>(server) && states_[region.info.table] == TableState::kEnabled)
      return region;
    if (announce_moves) return rpc::RegionMovedError(NameOf(region.server), 1);
  }
  return rpc::RemoteError(rpc::exception::kNotServingRegion, encoded);
}

std::vector<std::vector<Cell>> FakeCluster::RowsOf(const Region& region) {
  std::vector<std::vector<Cell>> rows;
  if (!region.info.IsMeta()) {
    for (const auto& [key, value] : data_[region.info.table]) {
      if (!region.info.Contains(key) || value.empty()) continue;
      rows.emplace_back();
      for (std::uint32_t i = 0; i < columns; ++i) {
        rows.back().push_back({key, "f", i == 0 ? "q" : "q" + std::to_string(i), 1, CellType::kPut, value});
      }
    }
    return rows;
  }
  for (const Region& each : regions_) {
    MetaRow row;
    row.region = each.info;
    row.server = NameOf(each.server);
    row.state = RegionState::kOpen;
    rows.push_back(EncodeMetaRow(row));
  }
  for (const auto& [table, state] : states_) {  // the family also holds other columns than the state, as the master
                                                // writes it
    Cell dir = EncodeTableState(table, state);
    dir.qualifier = "dir";
    dir.value = "default/" + table.ToString() + ".7";
    rows.push_back({dir, EncodeTableState(table, state)});
  }
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return CompareRows(RowOrder::kMeta, a.front().row, b.front().row) < 0;
  });
  return rows;
}

Result<pb::GetResponse> FakeCluster::Get(int server, const pb::GetRequest& request) {
  RATCHET_ASSIGN(const Region region, Serving(server, request.region()));
  pb::GetResponse response;
  response.mutable_result();
  for (const auto& row : RowsOf(region)) {
    if (row.front().row != request.get().row()) continue;
    FillResult(Selected(row, request.get()), nullptr, *response.mutable_result());
  }
  return response;
}

Result<std::string> FakeCluster::Apply(const TableName& table, const pb::MutationProto& mutation) {
  if (const auto done = nonces_.find(mutation.nonce()); done != nonces_.end()) return done->second;
  CellBlockReader none("");
  RATCHET_ASSIGN(const std::vector<Cell> cells, ReadMutationCells(mutation, none));
  std::string& value = data_[table][mutation.row()];
  for (const Cell& cell : cells) {
    if (cell.family != "f") return rpc::RemoteError(rpc::exception::kNoSuchColumnFamily, cell.family);
    if (mutation.mutate_type() == pb::MutationProto::APPEND)
      value += cell.value;
    else
      value = IsDelete(cell.type) ? "" : cell.value;
  }
  if (cells.empty()) value.clear();
  return nonces_[mutation.nonce()] = value;
}

Result<pb::MutateResponse> FakeCluster::Mutate(int server, const pb::MutateRequest& request) {
  RATCHET_ASSIGN(const Region region, Serving(server, request.region()));
  const std::string& row = request.mutation().row();
  pb::MutateResponse response;
  response.set_processed(true);
  if (request.has_condition()) {
    pb::BinaryComparator expected;
    RATCHET_CHECK(expected.ParseFromString(request.condition().comparator().serialized_comparator()), "comparator");
    const bool seen = nonces_.contains(request.mutation().nonce());
    response.set_processed(seen || data_[region.info.table][row] == expected.comparable().value());
    if (!response.processed()) return response;
  }
  RATCHET_ASSIGN(const std::string value, Apply(region.info.table, request.mutation()));
  FillResult({Cell{row, "f", "q", 1, CellType::kPut, value}}, nullptr, *response.mutable_result());
  return response;
}

Result<pb::MultiResponse> FakeCluster::Multi(int server, const pb::MultiRequest& request) {
  pb::MultiResponse response;
  for (const auto& action : request.regionaction()) {
    auto* result = response.add_regionactionresult();
    const auto region = Serving(server, action.region());
    if (!region.ok()) {
      rpc::FillPair(region.error(), *result->mutable_exception());
      continue;
    }
    for (const auto& one : action.action()) {
      auto* answer = result->add_resultorexception();
      answer->set_index(one.index());
      const auto applied = Apply(region->info.table, one.mutation());
      if (applied.ok())
        answer->mutable_result();
      else
        rpc::FillPair(applied.error(), *answer->mutable_exception());
    }
  }
  return response;
}

Result<pb::ScanResponse> FakeCluster::Scan(int server, const pb::ScanRequest& request) {
  if (request.has_scanner_id()) return Continue(request.scanner_id(), request);
  RATCHET_ASSIGN(const Region region, Serving(server, request.region()));
  const RowOrder order = region.info.IsMeta() ? RowOrder::kMeta : RowOrder::kPlain;
  const pb::Scan& scan = request.scan();
  std::vector<std::vector<Cell>> rows = RowsOf(region);
  if (scan.reversed()) std::reverse(rows.begin(), rows.end());
  const auto outside = [&](const std::vector<Cell>& row) {
    const auto direction = [&](std::string_view edge) {
      const auto compared = CompareRows(order, row.front().row, edge);
      const int sign = compared < 0 ? -1 : compared > 0 ? 1 : 0;
      return scan.reversed() ? -sign : sign;
    };
    if (!scan.start_row().empty() && direction(scan.start_row()) < (scan.include_start_row() ? 0 : 1)) return true;
    return !scan.stop_row().empty() && direction(scan.stop_row()) > (scan.include_stop_row() ? 0 : -1);
  };
  std::erase_if(rows, outside);
  const std::uint64_t id = ++last_id_;
  scanners_[id] = {region.info.encoded_name(), {}, 0, scan.max_result_size()};
  for (auto& row : rows) scanners_[id].rows.push_back(std::move(row));
  return Continue(id, request);
}

Result<pb::ScanResponse> FakeCluster::Continue(std::uint64_t id, const pb::ScanRequest& request) {
  pb::ScanResponse response;
  response.set_scanner_id(id);
  const auto found = scanners_.find(id);
  if (found == scanners_.end()) {
    if (request.close_scanner()) return response;
    return rpc::RemoteError(rpc::exception::kUnknownScanner, std::to_string(id));
  }
  OpenScanner& scanner = found->second;
  if (request.has_next_call_seq() && request.next_call_seq() != scanner.next_call) {
    return rpc::RemoteError(rpc::exception::kOutOfOrderScannerNext, "sequence");
  }
  ++scanner.next_call;
  for (std::uint32_t n = 0; n < request.number_of_rows() && !scanner.rows.empty(); ++n) {
    std::vector<Cell>& row = scanner.rows.front();
    const bool whole = loses_places_below != 0 && scanner.reply_bytes >= loses_places_below;
    const bool may_cut = cells_per_result != 0 && request.client_handles_partials() && !whole;
    const std::size_t most = may_cut ? cells_per_result.load() : row.size();
    const bool partial = row.size() > most;
    const std::vector<Cell> part(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(std::min(most, row.size())));
    FillResult(part, nullptr, *response.add_results());
    response.mutable_results(response.results_size() - 1)->set_partial(partial);
    if (partial && loses_places_below != 0) {
      response.set_more_results(true);
      response.set_more_results_in_region(true);
      scanners_.erase(found);
      return response;
    }
    if (partial)
      row.erase(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(most));
    else
      scanner.rows.pop_front();
  }
  response.set_more_results(true);
  response.set_more_results_in_region(!scanner.rows.empty());
  if (scanner.rows.empty() || request.close_scanner()) scanners_.erase(found);
  return response;
}

}  // namespace ratchet::client
