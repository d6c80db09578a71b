// Verbs on rows.
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "common/client/admin.h"
#include "common/client/table.h"
#include "common/tools/cli/bytes_text.h"
#include "common/tools/cli/filter_text.h"
#include "common/tools/cli/flag_checks.h"
#include "common/tools/cli/scan_progress.h"
#include "common/tools/cli/verbs.h"

namespace ratchet::cli {
namespace {

constexpr std::uint64_t kMostVersions = 1'000'000;

void AddRow(CLI::App& verb, std::string& row) { Need(verb, "row", row, kind::kRow, "Key of the row"); }

void AddColumns(CLI::App& verb, std::vector<std::string>& columns) {
  Take(verb, "column", columns, kind::kColumn, "family or family:qualifier ...");
}

void AddVersions(CLI::App& verb, std::uint32_t& versions) {
  TakeWhole(verb, "--versions", versions, kind::kNumber, 1, kMostVersions,
            "Number of versions of each column, the newest first");
}

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

struct PutFlags {
  std::string table;
  std::string row;
  std::vector<std::string> values;
  std::optional<std::int64_t> timestamp;  // unset: the server's clock

  void Bind(CLI::App& verb) {
    AddTable(verb, table);
    AddRow(verb, row);
    Need(verb, "value", values, "COLUMN=VALUE", "family:qualifier=value ...");
    TakeWhole(verb, "--timestamp", timestamp, kind::kMillis, 0, kLargest - 1,
              "In ms since 1970; left out: the server's clock");
  }
};

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

Result<int> PutRow(Session& session, const PutFlags& flags) {
  RATCHET_ASSIGN(auto name, TableName::Parse(flags.table));
  RATCHET_ASSIGN(auto put, ParsePut(flags));
  auto done = client::Table(session.connection, name).Mutate(put);
  if (!done.ok()) return ReportOnTable(session, done.error(), name);
  session.printer.Object({{"put", static_cast<std::int64_t>(flags.values.size())}});
  return kExitOk;
}

struct GetFlags {
  std::string table;
  std::string row;
  std::vector<std::string> columns;
  std::uint32_t versions = 1;

  void Bind(CLI::App& verb) {
    AddTable(verb, table);
    AddRow(verb, row);
    AddColumns(verb, columns);
    AddVersions(verb, versions);
  }
};

Result<int> GetRow(Session& session, const GetFlags& flags) {
  RATCHET_ASSIGN(auto name, TableName::Parse(flags.table));
  RATCHET_ASSIGN(auto key, FromText(flags.row));
  RATCHET_ASSIGN(auto chosen, ParseColumns(flags.columns));
  auto found = client::Table(session.connection, name).Get({key, chosen, flags.versions, {}});
  if (!found.ok()) return ReportOnTable(session, found.error(), name);
  std::vector<std::vector<Field>> rows;
  AddCells(*found, rows);
  session.printer.Table(CellHeaders(), rows);
  return found->empty() ? kExitNotFound : kExitOk;
}

struct DeleteFlags {
  std::string table;
  std::string row;
  std::vector<std::string> columns;

  void Bind(CLI::App& verb) {
    AddTable(verb, table);
    AddRow(verb, row);
    AddColumns(verb, columns);
  }
};

Result<int> DeleteRow(Session& session, const DeleteFlags& flags) {
  RATCHET_ASSIGN(auto name, TableName::Parse(flags.table));
  RATCHET_ASSIGN(auto key, FromText(flags.row));
  RATCHET_ASSIGN(auto chosen, ParseColumns(flags.columns));
  auto remove = client::Mutation::Delete(key);
  for (const auto& column : chosen) {
    if (column.qualifier)
      remove.Remove(CellType::kDeleteColumn, column.family, *column.qualifier);
    else
      remove.Remove(CellType::kDeleteFamily, column.family);
  }
  auto done = client::Table(session.connection, name).Mutate(remove);
  if (!done.ok()) return ReportOnTable(session, done.error(), name);
  session.printer.Object({{"deleted", flags.row}});
  return kExitOk;
}

struct ScanFlags {
  std::string table;
  std::string start;
  std::string stop;
  std::string prefix;  // instead of a start and a stop row
  std::vector<std::string> columns;
  std::uint64_t limit = 0;
  std::uint32_t versions = 1;
  bool reversed = false;
  std::string filter;  // in HBase's filter language (filter_text.h); empty: none
  bool count_only = false;
};

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

Result<int> ScanTable(Session& session, const ScanFlags& flags) {
  RATCHET_ASSIGN(auto name, TableName::Parse(flags.table));
  RATCHET_ASSIGN(auto scan, ParseScan(flags));
  auto scanner = client::Table(session.connection, name).Scan(scan);
  RowStream stream(session.printer, CellHeaders());
  ScanProgress progress(session, name, scan, flags.count_only);
  std::int64_t count = 0;
  for (;;) {
    if (!scanner.has_row() && !stream.Flush()) return kExitOk;  // no row may come for a while
    auto next = scanner.Next();
    if (!next.ok()) {
      progress.End(count, false);
      stream.End(true);
      return ReportOnTable(session, next.error(), name);
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

void AddRange(CLI::App& verb, ScanFlags& flags) {
  auto* start = Take(verb, "--start", flags.start, kind::kRow, "First row");
  auto* stop = Take(verb, "--stop", flags.stop, kind::kRow, "Row to stop before");
  Take(verb, "--prefix", flags.prefix, kind::kRow, "Only rows that begin with this text")
      ->excludes(start)
      ->excludes(stop);
  Take(verb, "--filter", flags.filter, kind::kText,
       "Only what this filter of HBase's filter language accepts: \"PrefixFilter('a') AND ...\"");
}

struct ScanVerbFlags : ScanFlags {
  void Bind(CLI::App& verb) {
    AddTable(verb, table);
    AddRange(verb, *this);
    Take(verb, "--columns", columns, kind::kColumn, "family or family:qualifier, ...")->delimiter(',');
    TakeWhole(verb, "--limit", limit, kind::kNumber, 0, UINT32_MAX, "Maximum number of rows; 0: unlimited");
    AddVersions(verb, versions);
    verb.add_flag("--reversed", reversed, "Scan from the end to the beginning");
    verb.add_flag("--count", count_only, "Print only the number of rows");
  }
};

struct CountFlags : ScanFlags {
  void Bind(CLI::App& verb) {
    count_only = true;
    AddTable(verb, table);
    AddRange(verb, *this);
  }
};

struct LocateFlags {
  std::string table;
  std::string row;  // as text (bytes_text.h)

  void Bind(CLI::App& verb) {
    AddTable(verb, table);
    AddRow(verb, row);
  }
};

// Shows which region has a row, and where the region is.
Result<int> LocateRow(Session& session, const LocateFlags& flags) {
  RATCHET_ASSIGN(auto name, TableName::Parse(flags.table));
  RATCHET_ASSIGN(const auto key, FromText(flags.row));
  const auto regions = session.admin.Regions(name);
  if (!regions.ok()) return ReportOnTable(session, regions.error(), name);
  for (const client::RegionLocation& location : *regions) {
    const RegionInfo& region = location.region;
    const ServerName& server = location.server;
    if (!region.Contains(key)) continue;
    session.printer.Object({{"region", region.encoded_name()},
                            {"start", ToText(region.start_key)},
                            {"end", ToText(region.end_key)},
                            {"server", server.empty() ? Field() : Field(server.ToString())}});
    return kExitOk;
  }
  return Error(Code::kNotFound,
               fmt::format("no region of table {} has the row {} (see: ratchet status)", flags.table, flags.row));
}

}  // namespace

Verbs RowVerbs() {
  return {
      Verb<PutFlags>(
          "put", "Store values in one row",
          {"put t row1 f:name=value f:kind=a", "put t 'row\\x00' f:q='\\x01\\x02' --timestamp 1700000000000"}, PutRow),
      Verb<GetFlags>("get", "Read one row; exit code 5 when there is none",
                     {"get t row1", "get t row1 f:name --versions 3"}, GetRow),
      Verb<DeleteFlags>("delete", "Delete a row, or some of its columns", {"delete t row1", "delete t row1 f:name g"},
                        DeleteRow),
      Verb<ScanVerbFlags>(
          "scan", "Read rows in order, printed as they come",
          {"scan t --start a --stop b --limit 10", "scan t --prefix user42/ --columns f:name",
           "scan t --filter \"ValueFilter(=, 'substring:x') AND KeyOnlyFilter()\"", "--json scan t | head -3"},
          ScanTable),
      Verb<CountFlags>("count", "Count the rows of a table, or of a part of it", {"count t", "count t --prefix a"},
                       ScanTable),
      Verb<LocateFlags>("locate", "Show which region has a row, and its server", {"locate t row1"}, LocateRow)};
}

}  // namespace ratchet::cli
