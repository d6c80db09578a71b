// `ratchet sql`: one SELECT over the active master's views.
#include <cstdio>

#include <fmt/format.h>

#include "common/ops/sql/sql_database.h"
#include "common/tools/cli/commands.h"
#include "common/tools/cli/sql_output.h"
#include "common/tools/cli/sql_tables.h"

namespace ratchet::cli {
namespace {

// `.schema` and `.schema TABLE`; nullopt: the text is neither.
std::optional<Result<std::vector<sql::SqlTable>>> SchemaAsked(const std::string& statement) {
  constexpr std::string_view kWord = ".schema";
  if (!statement.starts_with(kWord)) return std::nullopt;
  std::string name = statement.substr(kWord.size());
  name.erase(0, name.find_first_not_of(' ') == std::string::npos ? name.size() : name.find_first_not_of(' '));
  std::vector<sql::SqlTable> tables = SqlTables();
  if (name.empty()) return tables;
  for (const sql::SqlTable& table : tables) {
    if (table.name == name) return std::vector<sql::SqlTable>{table};
  }
  return Result<std::vector<sql::SqlTable>>(Error(Code::kNotFound, fmt::format("there is no table {}", name)));
}

}  // namespace

int RunSql(Session& session, const SqlFlags& flags) {
  if (const auto asked = SchemaAsked(flags.statement)) {
    if (!asked->ok()) return Report(session, asked->error());
    std::vector<std::vector<Field>> rows;
    for (const auto& line : sql::SchemaRows(asked->value())) {
      std::vector<Field>& row = rows.emplace_back();
      for (const std::string& text : line) row.push_back(text.empty() ? Field() : Field(text));
    }
    session.printer.Table({"TABLE", "COLUMN", "TYPE", "MEANING"}, rows);
    return kExitOk;
  }
  auto database = sql::SqlDatabase::Open(SqlTables());
  if (!database.ok()) return Report(session, database.error());
  const auto tables = (*database)->TablesOf(flags.statement);
  if (!tables.ok()) return Report(session, tables.error().Annotate("sql"));
  SqlSource source(session, *tables);
  for (const std::string& table : *tables) {
    const Status filled = (*database)->Fill(table, [&](const sql::SqlSink& sink) { return source.Fill(table, sink); });
    if (!filled.ok()) return Report(session, filled.error());
  }
  SqlOutput output(session.printer, flags.csv);
  const Status done = (*database)->Query(
      flags.statement, [&](std::vector<std::string> names) { output.Begin(std::move(names)); },
      [&](sql::SqlRow row) { return output.Add(std::move(row)); });
  output.End(!done.ok());
  return done.ok() ? kExitOk : Report(session, done.error().Annotate("sql"));
}

}  // namespace ratchet::cli
