#include "common/client/table.h"
#include "common/tools/cli/bytes_text.h"
#include "common/tools/cli/commands.h"
#include "common/tools/cli/filter_text.h"
#include "common/tools/cli/scan_progress.h"

namespace ratchet::cli {
namespace {

// "family" or "family:qualifier", the qualifier as text.
Result<client::Column> ParseColumn(const std::string& text) {
  const auto colon = text.find(':');
  client::Column column{text.substr(0, colon), std::nullopt};
  if (column.family.empty())
    return Error(Code::kInvalidArgument, fmt::format("column '{}': expected family:qualifier", text));
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
    rows.push_back(
        {ToText(cell.row), ToText(cell.family) + ":" + ToText(cell.qualifier), cell.timestamp, ToText(cell.value)});
  }
}

const std::vector<std::string>& CellHeaders() {
  static const std::vector<std::string> headers = {"ROW", "COLUMN", "TIMESTAMP", "VALUE"};
  return headers;
}

Result<client::Mutation> ParsePut(const PutFlags& flags) {
  RATCHET_ASSIGN(auto key, FromText(flags.row));
  auto put = client::Mutation::Put(std::move(key));
  for (const auto& text : flags.values) {
    const auto equals = text.find('=');
    if (equals == std::string::npos) {
      return Error(Code::kInvalidArgument, fmt::format("'{}': expected family:qualifier=value", text));
    }
    RATCHET_ASSIGN(auto column, ParseColumn(text.substr(0, equals)));
    RATCHET_ASSIGN(auto value, FromText(text.substr(equals + 1)));
    put.Set(column.family, column.qualifier.value_or(""), std::move(value), flags.timestamp.value_or(kLatestTimestamp));
  }
  return put;
}

// The first row after all that begin with `prefix`; empty: there is none.
std::string BehindPrefix(std::string prefix) {
  while (!prefix.empty() && static_cast<unsigned char>(prefix.back()) == 0xff) prefix.pop_back();
  if (!prefix.empty()) prefix.back() = static_cast<char>(static_cast<unsigned char>(prefix.back()) + 1);
  return prefix;
}

Result<client::Scan> ParseScan(const ScanFlags& flags) {
  client::Scan scan;
  RATCHET_ASSIGN(scan.start_row, FromText(flags.start));
  RATCHET_ASSIGN(scan.stop_row, FromText(flags.stop));
  if (!flags.prefix.empty()) {
    RATCHET_ASSIGN(const std::string prefix, FromText(flags.prefix));
    scan.start_row = prefix;
    scan.stop_row = BehindPrefix(prefix);
    if (flags.reversed) std::swap(scan.start_row, scan.stop_row);
    scan.include_start = !flags.reversed;
    scan.include_stop = flags.reversed;
  }
  RATCHET_ASSIGN(scan.columns, ParseColumns(flags.columns));
  scan.limit = flags.limit;
  scan.max_versions = flags.versions;
  scan.reversed = flags.reversed;
  if (!flags.filter.empty()) {
    RATCHET_ASSIGN(scan.filter, ParseFilter(flags.filter));
  }
  return scan;
}

}  // namespace

int PutRow(Session& session, const PutFlags& flags) {
  auto name = TableName::Parse(flags.table);
  if (!name.ok()) return Report(session, name.error());
  auto put = ParsePut(flags);
  if (!put.ok()) return Report(session, put.error());
  auto done = client::Table(session.connection, *name).Mutate(*put);
  if (!done.ok()) return ReportOnTable(session, done.error(), *name);
  session.printer.Object({{"put", static_cast<std::int64_t>(flags.values.size())}});
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
  if (!found.ok()) return ReportOnTable(session, found.error(), *name);
  std::vector<std::vector<Field>> rows;
  AddCells(*found, rows);
  session.printer.Table(CellHeaders(), rows);
  return found->empty() ? kExitNotFound : kExitOk;
}

int DeleteRow(Session& session, const std::string& table, const std::string& row,
              const std::vector<std::string>& columns) {
  auto name = TableName::Parse(table);
  if (!name.ok()) return Report(session, name.error());
  auto key = FromText(row);
  if (!key.ok()) return Report(session, key.error());
  auto chosen = ParseColumns(columns);
  if (!chosen.ok()) return Report(session, chosen.error());
  auto remove = client::Mutation::Delete(*key);
  for (const auto& column : *chosen) {
    if (column.qualifier)
      remove.Remove(CellType::kDeleteColumn, column.family, *column.qualifier);
    else
      remove.Remove(CellType::kDeleteFamily, column.family);
  }
  auto done = client::Table(session.connection, *name).Mutate(remove);
  if (!done.ok()) return ReportOnTable(session, done.error(), *name);
  session.printer.Object({{"deleted", row}});
  return kExitOk;
}

int ScanTable(Session& session, const ScanFlags& flags) {
  auto name = TableName::Parse(flags.table);
  if (!name.ok()) return Report(session, name.error());
  auto scan = ParseScan(flags);
  if (!scan.ok()) return Report(session, scan.error());
  auto scanner = client::Table(session.connection, *name).Scan(*scan);
  RowStream stream(session.printer, CellHeaders());
  ScanProgress progress(session, *name, *scan, flags.count_only);
  std::int64_t count = 0;
  for (;;) {
    if (!scanner.has_row() && !stream.Flush()) return kExitOk;  // no row may come for a while
    auto next = scanner.Next();
    if (!next.ok()) {
      progress.End(count, false);
      stream.End(true);
      return ReportOnTable(session, next.error(), *name);
    }
    if (!*next) break;
    ++count;
    if (!(*next)->cells.empty()) progress.Row(count, (*next)->cells.front().row);
    if (flags.count_only) continue;
    std::vector<std::vector<Field>> rows;
    AddCells(**next, rows);
    if (!stream.Add(rows)) return kExitOk;  // the reader has had enough (| head)
  }
  progress.End(count, true);
  if (flags.count_only) {
    session.printer.Object({{"rows", count}});
  } else {
    stream.End();
    session.printer.Note(fmt::format("{} rows", count));
  }
  return kExitOk;
}

}  // namespace ratchet::cli
