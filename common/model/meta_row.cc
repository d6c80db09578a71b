#include "common/model/meta_row.h"

#include <charconv>
#include <set>
#include <utility>

#include "common/base/host_port.h"
#include "common/model/codec.h"
#include "common/model/name_rules.h"
#include "common/model/proto/common.pb.h"

namespace ratchet {
namespace {

constexpr std::string_view kMagic = "PBUF";

Error BadColumn(const Cell& cell) {
  return Error(Code::kCorruption,
               fmt::format("row '{}' of hbase:meta: cannot read {}:{}", cell.row, cell.family, cell.qualifier));
}

// The address in info:server, with brackets around an IPv6 address or, as earlier versions wrote it, without.
bool ParseAddress(std::string_view text, ServerName& out) {
  auto address = SplitHostPort(text);
  if (!address.has_value()) return false;
  out.host = std::move(address->host);
  out.port = address->port;
  return true;
}

bool ReadNumber(const Cell& cell, std::uint64_t& out) {
  std::int64_t number = 0;
  if (!DecodeInt64(cell.value, number)) return false;
  out = static_cast<std::uint64_t>(number);
  return true;
}

struct Columns {
  MetaRow row;
  ServerName server;  // address from info:server, start code from info:serverstartcode
  bool has_region = false;
  bool has_address = false;
  std::uint64_t issued_at = 0;  // the transition number with which info:issued was written
};

bool ReadIssued(std::string_view value, Columns& out) {
  constexpr std::size_t kNumber = 8;
  std::int64_t issued = 0;
  std::int64_t transition = 0;
  if (value.size() != 2 * kNumber || !DecodeInt64(value.substr(0, kNumber), issued) ||
      !DecodeInt64(value.substr(kNumber), transition))
    return false;
  out.row.issued = static_cast<std::uint64_t>(issued);
  out.issued_at = static_cast<std::uint64_t>(transition);
  return true;
}

Status ReadColumn(const Cell& cell, Columns& out) {
  std::uint64_t number = 0;
  const std::string_view qualifier = cell.qualifier;
  if (qualifier == meta::kRegionInfo) {
    auto region = DecodeRegionInfoValue(cell.value);
    if (!region.ok()) return BadColumn(cell);
    out.row.region = std::move(*region);
    out.has_region = true;
  } else if (qualifier == meta::kServer) {
    if (cell.value.empty()) return Ok();  // unassigned
    if (!ParseAddress(cell.value, out.server)) return BadColumn(cell);
    out.has_address = true;
  } else if (qualifier == meta::kStartCode) {
    if (!ReadNumber(cell, out.server.start_code)) return BadColumn(cell);
  } else if (qualifier == meta::kSeqNum) {
    if (!ReadNumber(cell, number)) return BadColumn(cell);
    out.row.open_sequence = number;
  } else if (qualifier == meta::kTransition) {
    if (!ReadNumber(cell, number)) return BadColumn(cell);
    out.row.transition = number;
  } else if (qualifier == meta::kDescriptor) {
    if (!ReadNumber(cell, number)) return BadColumn(cell);
    out.row.schema_number = number;
  } else if (qualifier == meta::kBuildNumber) {
    if (!ReadNumber(cell, number)) return BadColumn(cell);
    out.row.build_number = number;
  } else if (qualifier == meta::kServed || qualifier == meta::kFlushed) {
    if (!ReadNumber(cell, number)) return BadColumn(cell);
    (qualifier == meta::kServed ? out.row.served : out.row.flushed) = number;
  } else if (qualifier == meta::kIssued) {
    if (!ReadIssued(cell.value, out)) return BadColumn(cell);
  } else if (qualifier == meta::kSplitA || qualifier == meta::kSplitB || qualifier.starts_with(meta::kMerge)) {
    auto region = DecodeRegionInfoValue(cell.value);
    if (!region.ok()) return BadColumn(cell);
    (qualifier.starts_with(meta::kMerge) ? out.row.merged_from : out.row.daughters).push_back(std::move(*region));
  } else if (qualifier == meta::kTargetServer) {
    auto target = ServerName::Parse(cell.value);
    if (!target.ok()) return BadColumn(cell);
    out.row.target = std::move(*target);
  } else if (qualifier == meta::kState) {
    out.row.state = ParseRegionState(cell.value);
    if (!out.row.state.has_value()) return BadColumn(cell);
  }
  return Ok();
}

}  // namespace

std::vector<Cell> EncodeMetaRow(const MetaRow& row) {
  std::vector<Cell> cells;
  const std::string key = row.region.name();
  const auto add = [&](std::string_view qualifier, std::string value) {
    cells.push_back(Cell{key, std::string(meta::kInfoFamily), std::string(qualifier), kLatestTimestamp, CellType::kPut,
                         std::move(value)});
  };
  add(meta::kRegionInfo, EncodeRegionInfoValue(row.region));
  if (row.server.has_value()) {
    add(meta::kServer, JoinHostPort(row.server->host, row.server->port));
    add(meta::kStartCode, EncodeInt64(static_cast<std::int64_t>(row.server->start_code)));
  }
  if (row.open_sequence.has_value()) add(meta::kSeqNum, EncodeInt64(static_cast<std::int64_t>(*row.open_sequence)));
  if (row.target.has_value()) add(meta::kTargetServer, row.target->ToString());
  if (row.state.has_value()) add(meta::kState, std::string(RegionStateText(*row.state)));
  if (row.transition.has_value()) add(meta::kTransition, EncodeInt64(static_cast<std::int64_t>(*row.transition)));
  if (row.schema_number.has_value()) add(meta::kDescriptor, EncodeInt64(static_cast<std::int64_t>(*row.schema_number)));
  if (row.build_number.has_value()) add(meta::kBuildNumber, EncodeInt64(static_cast<std::int64_t>(*row.build_number)));
  if (row.issued.has_value() && row.transition.has_value()) {
    add(meta::kIssued,
        EncodeInt64(static_cast<std::int64_t>(*row.issued)) + EncodeInt64(static_cast<std::int64_t>(*row.transition)));
  }
  if (row.served.has_value()) add(meta::kServed, EncodeInt64(static_cast<std::int64_t>(*row.served)));
  if (row.flushed.has_value()) add(meta::kFlushed, EncodeInt64(static_cast<std::int64_t>(*row.flushed)));
  if (row.daughters.size() == 2) {
    add(meta::kSplitA, EncodeRegionInfoValue(row.daughters[0]));
    add(meta::kSplitB, EncodeRegionInfoValue(row.daughters[1]));
  }
  for (std::size_t i = 0; i < row.merged_from.size(); ++i)
    add(fmt::format("{}{:04}", meta::kMerge, i), EncodeRegionInfoValue(row.merged_from[i]));
  return cells;
}

Result<MetaRow> DecodeMetaRow(const std::vector<Cell>& cells) {
  Columns columns;
  std::set<std::string_view> seen;
  for (const Cell& cell : cells) {
    if (cell.family != meta::kInfoFamily || cell.type != CellType::kPut) continue;
    if (!seen.insert(cell.qualifier).second) continue;
    RATCHET_TRY(ReadColumn(cell, columns));
  }
  if (!columns.has_region) return Error(Code::kNotFound, "the row holds no region");
  if (columns.has_address) {
    if (const Status valid = CheckServerName(columns.server); !valid.ok()) {
      return Error(Code::kCorruption,
                   fmt::format("row '{}' of hbase:meta: {}", cells.front().row, valid.error().message()));
    }
    columns.row.server = std::move(columns.server);
  }
  // A later writer, perhaps of an earlier version, may have assigned numbers that this column does not contain.
  if (columns.row.transition.value_or(0) != columns.issued_at) columns.row.issued.reset();
  return std::move(columns.row);
}

std::string EncodeRegionInfoValue(const RegionInfo& region) {
  hbase::pb::RegionInfo message;
  ToProto(region, message);
  std::string value(kMagic);
  message.AppendToString(&value);
  return value;
}

Result<RegionInfo> DecodeRegionInfoValue(std::string_view value) {
  hbase::pb::RegionInfo message;
  if (!value.starts_with(kMagic) ||
      !message.ParseFromArray(value.data() + kMagic.size(), static_cast<int>(value.size() - kMagic.size()))) {
    return Error(Code::kCorruption, "not a region info value");
  }
  return FromProto(message);
}

Cell EncodeTableState(const TableName& table, TableState state) {
  hbase::pb::TableState message;
  message.set_state(static_cast<hbase::pb::TableState::State>(state));
  return Cell{table.ToString(), std::string(meta::kTableFamily), std::string(meta::kTableState), kLatestTimestamp,
              CellType::kPut,   message.SerializeAsString()};
}

Result<TableState> DecodeTableState(std::string_view value) {
  hbase::pb::TableState message;
  if (!message.ParseFromArray(value.data(), static_cast<int>(value.size()))) {
    return Error(Code::kCorruption, "not a table state value");
  }
  return static_cast<TableState>(message.state());
}

std::string MetaFirstRow(const TableName& table) { return table.ToString() + ",,"; }
// A blank sorts before every character of a table name, so this row follows all rows "T,..." and precedes those of any
// longer name.
std::string MetaStopRow(const TableName& table) { return table.ToString() + " ,,"; }
std::string MetaSearchRow(const TableName& table, std::string_view row) {
  return table.ToString() + "," + std::string(row) + ",:";
}

}  // namespace ratchet
