// `ratchet sql`: one SELECT over the active master's views.
#include <cmath>
#include <cstdio>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "common/ops/sql/sql_database.h"
#include "common/ops/sql/sql_text.h"
#include "common/tools/cli/bytes_text.h"
#include "common/tools/cli/sql_tables.h"
#include "common/tools/cli/verbs.h"
#include "common/tools/cli/views.h"

namespace ratchet::cli {
namespace {

Field FieldOf(sql::SqlValue value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
  if (const auto* real = std::get_if<double>(&value))  // JSON has no infinity
    return std::isfinite(*real) ? Field(*real) : Field(sql::RealText(*real));
  if (const auto* text = std::get_if<std::string>(&value)) return ToText(*text);
  return {};
}

// Prints the rows of a query as they come: a table, JSON, or CSV (RFC 4180, lines end with LF).
class SqlOutput {
 public:
  SqlOutput(const Printer& printer, bool csv) : printer_(printer), csv_(csv) {}
  void Begin(std::vector<std::string> names);
  // Returns false if the reader of standard output has gone.
  [[nodiscard]] bool Add(sql::SqlRow row);
  // `failed`: an error follows.
  void End(bool failed);

 private:
  const Printer& printer_;
  const bool csv_;
  std::unique_ptr<RowStream> stream_;
};

void SqlOutput::Begin(std::vector<std::string> names) {
  if (!csv_) {
    stream_ = std::make_unique<RowStream>(printer_, std::move(names));
    return;
  }
  sql::SqlRow head(names.begin(), names.end());
  std::fprintf(stdout, "%s\n", sql::CsvLine(head).c_str());
}

bool SqlOutput::Add(sql::SqlRow row) {
  if (csv_) return std::fprintf(stdout, "%s\n", sql::CsvLine(row).c_str()) >= 0;
  std::vector<Field> fields;
  for (sql::SqlValue& value : row) fields.push_back(FieldOf(std::move(value)));
  return stream_->Add({std::move(fields)});
}

void SqlOutput::End(bool failed) {
  if (stream_ != nullptr) stream_->End(failed);
  std::fflush(stdout);
}

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

Result<int> RunSql(Session& session, const SqlFlags& flags) {
  if (const auto asked = SchemaAsked(flags.statement)) {
    if (!asked->ok()) return asked->error();
    std::vector<std::vector<Field>> rows;
    for (const auto& line : sql::SchemaRows(asked->value())) {
      std::vector<Field>& row = rows.emplace_back();
      for (const std::string& text : line) row.push_back(text.empty() ? Field() : Field(text));
    }
    session.printer.Table({"TABLE", "COLUMN", "TYPE", "MEANING"}, rows);
    return kExitOk;
  }
  RATCHET_ASSIGN(auto database, sql::SqlDatabase::Open(SqlTables()));
  const auto tables = database->TablesOf(flags.statement);
  if (!tables.ok()) return tables.error().Annotate("sql");
  SqlSource source(session, *tables);
  for (const std::string& table : *tables) {
    const Status filled = database->Fill(table, [&](const sql::SqlSink& sink) { return source.Fill(table, sink); });
    if (!filled.ok()) return filled.error();
  }
  SqlOutput output(session.printer, flags.csv);
  const Status done = database->Query(
      flags.statement, [&](std::vector<std::string> names) { output.Begin(std::move(names)); },
      [&](sql::SqlRow row) { return output.Add(std::move(row)); });
  output.End(!done.ok());
  return done.ok() ? kExitOk : Report(session, done.error().Annotate("sql"));
}

namespace {

struct SqlVerbFlags : SqlFlags {
  void Bind(CLI::App& verb) {
    Need(verb, "statement", statement, kind::kText, "SELECT ..., .schema, or .schema TABLE");
    verb.add_flag("--csv", csv, "Comma-separated values instead of a table");
  }
};

}  // namespace

Verbs SqlVerbs() {
  return {
      Verb<SqlVerbFlags>("sql", "Run one SELECT over the master's views (SQLite's language); .schema lists the tables",
                         {"sql 'select type, count(*), max(age_s) from procedures where not finished group by type'",
                          "sql .schema", "sql --csv 'select * from regions'"},
                         RunSql)};
}

}  // namespace ratchet::cli
