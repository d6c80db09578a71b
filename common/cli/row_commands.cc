#include "common/cli/bytes_text.h"
#include "common/cli/commands.h"
#include "common/client/table.h"

namespace ratchet::cli {
namespace {

// "family" or "family:qualifier", the qualifier as text.
Result<client::Column> ParseColumn(const std::string& text) {
  const auto colon = text.find(':');
  client::Column column{text.substr(0, colon), std::nullopt};
  if (column.family.empty()) return Error(Code::kInvalidArgument, fmt::format("column '{}': expected family:qualifier", text));
  if (colon != std::string::npos) {
    RATCHET_ASSIGN(column.qualifier, FromText(text.substr(colon + 1)));
  }
  return column;
}

Result<std::vector<client::Column>> ParseColumns(const std::vector<std::string>& texts) {
  std::vector<client::Column> columns;
  for (const auto& text : texts) {
    RATCHET_ASSIGN(auto column, ParseColumn(text));
    columns.push_back(std::move(column));
  }
  return columns;
}

void AddCells(const client::Row& row, std::vector<std::vector<Field>>& rows) {
  for (const auto& cell : row.cells) {
    rows.push_back({ToText(cell.row), ToText(cell.family) + ":" + ToText(cell.qualifier), cell.timestamp,
                    ToText(cell.value)});
  }
}

const std::vector<std::string>& CellHeaders() {
  static const std::vector<std::string> headers = {"ROW", "COLUMN", "TIMESTAMP", "VALUE"};
  return headers;
}

Result<client::Mutation> ParsePut(const std::string& row, const std::vector<std::string>& values) {
  RATCHET_ASSIGN(auto key, FromText(row));
  auto put = client::Mutation::Put(std::move(key));
  for (const auto& text : values) {
    const auto equals = text.find('=');
    if (equals == std::string::npos) {
      return Error(Code::kInvalidArgument, fmt::format("'{}': expected family:qualifier=value", text));
    }
    RATCHET_ASSIGN(auto column, ParseColumn(text.substr(0, equals)));
    RATCHET_ASSIGN(auto value, FromText(text.substr(equals + 1)));
    put.Set(column.family, column.qualifier.value_or(""), std::move(value));
  }
  return put;
}

Result<client::Scan> ParseScan(const ScanFlags& flags) {
  client::Scan scan;
  RATCHET_ASSIGN(scan.start_row, FromText(flags.start));
  RATCHET_ASSIGN(scan.stop_row, FromText(flags.stop));
  RATCHET_ASSIGN(scan.columns, ParseColumns(flags.columns));
  scan.limit = flags.limit;
  scan.max_versions = flags.versions;
  scan.reversed = flags.reversed;
  return scan;
}

}  // namespace

int PutRow(Session& session, const std::string& table, const std::string& row, const std::vector<std::string>& values) {
  auto name = TableName::Parse(table);
  if (!name.ok()) return Report(session, name.error());
  auto put = ParsePut(row, values);
  if (!put.ok()) return Report(session, put.error());
  auto done = client::Table(session.connection, *name).Mutate(*put);
  if (!done.ok()) return Report(session, done.error());
  session.printer.Object({{"put", static_cast<std::int64_t>(values.size())}});
  return kExitOk;
}

int GetRow(Session& session, const std::string& table, const std::string& row, const std::vector<std::string>& columns,
           std::uint32_t versions) {
  auto name = TableName::Parse(table);
  if (!name.ok()) return Report(session, name.error());
  auto key = FromText(row);
  if (!key.ok()) return Report(session, key.error());
  auto chosen = ParseColumns(columns);
  if (!chosen.ok()) return Report(session, chosen.error());
  auto found = client::Table(session.connection, *name).Get({*key, *chosen, versions, {}});
  if (!found.ok()) return Report(session, found.error());
  std::vector<std::vector<Field>> rows;
  AddCells(*found, rows);
  session.printer.Table(CellHeaders(), rows);
  return found->empty() ? kExitNotFound : kExitOk;
}

int DeleteRow(Session& session, const std::string& table, const std::string& row, const std::vector<std::string>& columns) {
  auto name = TableName::Parse(table);
  if (!name.ok()) return Report(session, name.error());
  auto key = FromText(row);
  if (!key.ok()) return Report(session, key.error());
  auto chosen = ParseColumns(columns);
  if (!chosen.ok()) return Report(session, chosen.error());
  auto remove = client::Mutation::Delete(*key);
  for (const auto& column : *chosen) {
    if (column.qualifier) remove.Remove(CellType::kDeleteColumn, column.family, *column.qualifier);
    else remove.Remove(CellType::kDeleteFamily, column.family);
  }
  auto done = client::Table(session.connection, *name).Mutate(remove);
  if (!done.ok()) return Report(session, done.error());
  session.printer.Object({{"deleted", row}});
  return kExitOk;
}

int ScanTable(Session& session, const ScanFlags& flags) {
  auto name = TableName::Parse(flags.table);
  if (!name.ok()) return Report(session, name.error());
  auto scan = ParseScan(flags);
  if (!scan.ok()) return Report(session, scan.error());
  auto scanner = client::Table(session.connection, *name).Scan(*scan);
  std::vector<std::vector<Field>> rows;
  std::int64_t count = 0;
  for (;;) {
    auto next = scanner.Next();
    if (!next.ok()) return Report(session, next.error());
    if (!*next) break;
    ++count;
    if (!flags.count_only) AddCells(**next, rows);
  }
  if (flags.count_only) {
    session.printer.Object({{"rows", count}});
  } else {
    session.printer.Table(CellHeaders(), rows);
    session.printer.Note(fmt::format("{} rows", count));
  }
  return kExitOk;
}

}  // namespace ratchet::cli
