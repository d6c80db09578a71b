#include "common/ops/sql/sql_database.h"

#include <sqlite3.h>

#include <chrono>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace ratchet::sql {
namespace {

const char* TypeName(SqlType type) {
  switch (type) {
    case SqlType::kInteger: return "INTEGER";
    case SqlType::kReal: return "REAL";
    case SqlType::kText: return "TEXT";
  }
  return "";
}

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

Error ErrorOf(sqlite3* db, int code) {
  switch (code) {
    case SQLITE_NOMEM: return Error(Code::kResourceExhausted, "the query needs more memory than it may have");
    case SQLITE_TOOBIG: return Error(Code::kResourceExhausted, "a value of the query is too large");
    case SQLITE_INTERRUPT:
      return Error(Code::kResourceExhausted, "the query took too long; narrow it with WHERE or LIMIT");
    default: break;
  }
  const std::string words = sqlite3_errmsg(db);
  const bool name = words.starts_with("no such table") || words.starts_with("no such column");
  return Error(Code::kInvalidArgument, words + (name ? "; .schema lists tables and columns" : ""));
}

// The tables that a statement reads. SQLite calls Authorize while it prepares a statement.
struct Watch {
  std::set<std::string> read;
};

int Authorize(void* user, int action, const char* first, const char* second, const char*, const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE: return SQLITE_OK;
    case SQLITE_FUNCTION: return std::string_view(second) == "load_extension" ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_READ: static_cast<Watch*>(user)->read.insert(first); return SQLITE_OK;
    default: return SQLITE_DENY;
  }
}

class Authorized {
 public:
  Authorized(sqlite3* db, Watch& watch) : db_(db) { sqlite3_set_authorizer(db_, Authorize, &watch); }
  ~Authorized() { sqlite3_set_authorizer(db_, nullptr, nullptr); }
  Authorized(const Authorized&) = delete;
  Authorized& operator=(const Authorized&) = delete;

 private:
  sqlite3* const db_;
};

Result<Statement> Prepare(sqlite3* db, const std::string& text, const SqlLimits& limits, Watch& watch) {
  if (text.size() > limits.statement_bytes)
    return Error(Code::kInvalidArgument, fmt::format("a statement has at most {} bytes", limits.statement_bytes));
  if (text.find('\0') != std::string::npos) return Error(Code::kInvalidArgument, "a statement has no NUL byte");
  const Authorized authorized(db, watch);
  sqlite3_stmt* raw = nullptr;
  const char* rest = nullptr;
  const int code = sqlite3_prepare_v2(db, text.c_str(), -1, &raw, &rest);
  Statement statement(raw);
  if (code == SQLITE_AUTH)
    return Error(Code::kInvalidArgument, "only a SELECT is possible: nothing is changed by a query");
  if (code != SQLITE_OK) return ErrorOf(db, code);
  if (statement == nullptr) return Error(Code::kInvalidArgument, "there is no statement");
  if (std::string_view(rest).find_first_not_of(" \t\r\n;") != std::string_view::npos)
    return Error(Code::kInvalidArgument, "one statement at a time");
  if (sqlite3_stmt_readonly(statement.get()) == 0 || sqlite3_column_count(statement.get()) == 0)
    return Error(Code::kInvalidArgument, "only a SELECT is possible: nothing is changed by a query");
  return statement;
}

int Bind(sqlite3_stmt* statement, int index, const SqlValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return sqlite3_bind_int64(statement, index, *number);
  if (const auto* real = std::get_if<double>(&value)) return sqlite3_bind_double(statement, index, *real);
  if (const auto* text = std::get_if<std::string>(&value))
    return sqlite3_bind_text64(statement, index, text->data(), text->size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  return sqlite3_bind_null(statement, index);
}

SqlValue ValueOf(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER: return std::int64_t{sqlite3_column_int64(statement, column)};
    case SQLITE_FLOAT: return sqlite3_column_double(statement, column);
    case SQLITE_NULL: return std::monostate{};
    default: break;
  }
  const void* bytes = sqlite3_column_blob(statement, column);  // null: an empty text
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
  return bytes == nullptr ? std::string() : std::string(static_cast<const char*>(bytes), size);
}

// Ends a query that takes longer than its limit.
class Deadline {
 public:
  Deadline(sqlite3* db, Millis time) : db_(db), end_(std::chrono::steady_clock::now() + time) {
    sqlite3_progress_handler(
        db_, 10'000,
        [](void* self) { return std::chrono::steady_clock::now() > static_cast<Deadline*>(self)->end_ ? 1 : 0; }, this);
  }
  ~Deadline() { sqlite3_progress_handler(db_, 0, nullptr, nullptr); }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

 private:
  sqlite3* const db_;
  const std::chrono::steady_clock::time_point end_;
};

}  // namespace

SqlDatabase::SqlDatabase(std::vector<SqlTable> tables, SqlLimits limits)
    : tables_(std::move(tables)), limits_(limits) {}

SqlDatabase::~SqlDatabase() { sqlite3_close_v2(db_); }

Result<std::unique_ptr<SqlDatabase>> SqlDatabase::Open(std::vector<SqlTable> tables, SqlLimits limits) {
  std::unique_ptr<SqlDatabase> made(new SqlDatabase(std::move(tables), limits));
  if (auto begun = made->Begin(); !begun.ok()) return begun.error();
  return made;
}

Status SqlDatabase::Begin() {
  sqlite3_hard_heap_limit64(limits_.memory);
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX;
  if (const int code = sqlite3_open_v2(":memory:", &db_, flags, nullptr); code != SQLITE_OK) return ErrorOf(db_, code);
  sqlite3_limit(db_, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_limit(db_, SQLITE_LIMIT_EXPR_DEPTH, 200);
  for (const SqlTable& table : tables_) {
    std::string columns;
    for (const SqlColumn& column : table.columns)
      columns += fmt::format("{}\"{}\" {}", columns.empty() ? "" : ", ", column.name, TypeName(column.type));
    const std::string text = fmt::format("CREATE TABLE \"{}\" ({})", table.name, columns);
    if (const int code = sqlite3_exec(db_, text.c_str(), nullptr, nullptr, nullptr); code != SQLITE_OK)
      return ErrorOf(db_, code);
  }
  return Ok();
}

Result<std::set<std::string>> SqlDatabase::TablesOf(const std::string& statement) const {
  Watch watch;
  auto prepared = Prepare(db_, statement, limits_, watch);
  if (!prepared.ok()) return prepared.error();
  std::set<std::string> names;
  for (const SqlTable& table : tables_) {
    if (watch.read.contains(table.name)) names.insert(table.name);
  }
  return names;
}

Status SqlDatabase::Fill(const std::string& table, const std::function<Status(const SqlSink&)>& rows) {
  const SqlTable* found = nullptr;
  for (const SqlTable& each : tables_) found = each.name == table ? &each : found;
  if (found == nullptr) return Error(Code::kNotFound, fmt::format("there is no table {}", table));
  std::string marks = "?";
  for (std::size_t i = 1; i < found->columns.size(); ++i) marks += ", ?";
  sqlite3_stmt* raw = nullptr;
  const std::string text = fmt::format("INSERT INTO \"{}\" VALUES ({})", table, marks);
  if (const int code = sqlite3_prepare_v2(db_, text.c_str(), -1, &raw, nullptr); code != SQLITE_OK)
    return ErrorOf(db_, code);
  const Statement insert(raw);
  sqlite3_exec(db_, "BEGIN", nullptr, nullptr, nullptr);
  int failed = SQLITE_OK;
  Status given = rows([&](SqlRow row) {
    if (failed != SQLITE_OK) return;
    for (std::size_t i = 0; i < found->columns.size() && failed == SQLITE_OK; ++i)
      failed = Bind(insert.get(), static_cast<int>(i) + 1, i < row.size() ? row[i] : SqlValue());
    if (failed == SQLITE_OK && sqlite3_step(insert.get()) != SQLITE_DONE) failed = sqlite3_errcode(db_);
    sqlite3_reset(insert.get());
  });
  const int committed = sqlite3_exec(db_, "COMMIT", nullptr, nullptr, nullptr);
  if (!given.ok()) return given;
  if (failed != SQLITE_OK) return ErrorOf(db_, failed);
  return committed == SQLITE_OK ? Ok() : Status(ErrorOf(db_, committed));
}

Status SqlDatabase::Query(const std::string& statement, const std::function<void(std::vector<std::string>)>& head,
                          const std::function<bool(SqlRow)>& row) {
  Watch watch;
  auto prepared = Prepare(db_, statement, limits_, watch);
  if (!prepared.ok()) return prepared.error();
  sqlite3_stmt* query = prepared->get();
  const int columns = sqlite3_column_count(query);
  std::vector<std::string> names;
  for (int i = 0; i < columns; ++i) names.emplace_back(sqlite3_column_name(query, i));
  head(std::move(names));
  const Deadline deadline(db_, limits_.time);
  while (true) {
    const int code = sqlite3_step(query);
    if (code == SQLITE_DONE) return Ok();
    if (code != SQLITE_ROW) return ErrorOf(db_, code);
    SqlRow values;
    for (int i = 0; i < columns; ++i) values.push_back(ValueOf(query, i));
    if (!row(std::move(values))) return Ok();
  }
}

std::vector<std::vector<std::string>> SchemaRows(const std::vector<SqlTable>& tables) {
  std::vector<std::vector<std::string>> rows;
  for (const SqlTable& table : tables) {
    rows.push_back({table.name, "", "", table.help});
    for (const SqlColumn& column : table.columns)
      rows.push_back({table.name, column.name, TypeName(column.type), column.help});
  }
  return rows;
}

}  // namespace ratchet::sql
