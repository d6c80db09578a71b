// Tables in memory for one query: a schema, rows, and one SELECT over them (SQLite 3).
//
// Read only: a statement that would change data, attach a file, or load code is refused by name. A query is bounded in
// time and memory, and the error names the bound that it reaches. One thread.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/ops/sql/sql_table.h"

struct sqlite3;

namespace ratchet::sql {

struct SqlLimits {
  Millis time{30'000};                   // of the query alone
  std::int64_t memory = 2LL << 30;       // bytes, rows included; for the whole process
  std::size_t statement_bytes = 64'000;  // of the text
};

class SqlDatabase {
 public:
  // Makes the tables, without rows.
  static Result<std::unique_ptr<SqlDatabase>> Open(std::vector<SqlTable> tables, SqlLimits limits = {});
  ~SqlDatabase();
  SqlDatabase(const SqlDatabase&) = delete;
  SqlDatabase& operator=(const SqlDatabase&) = delete;

  [[nodiscard]] const std::vector<SqlTable>& tables() const { return tables_; }

  // The names of the tables that `statement` reads, so that no other one has to be filled. Code::kInvalidArgument with
  // SQLite's text when it is not a single SELECT over these tables.
  [[nodiscard]] Result<std::set<std::string>> TablesOf(const std::string& statement) const;

  // Adds the rows that `rows` passes to its sink.
  [[nodiscard]] Status Fill(const std::string& table, const std::function<Status(const SqlSink&)>& rows);

  // `head` gets the names of the columns, `row` each row; if `row` returns false, the query ends. Errors: as TablesOf;
  // Code::kResourceExhausted: a bound.
  [[nodiscard]] Status Query(const std::string& statement, const std::function<void(std::vector<std::string>)>& head,
                             const std::function<bool(SqlRow)>& row);

 private:
  SqlDatabase(std::vector<SqlTable> tables, SqlLimits limits);
  [[nodiscard]] Status Begin();

  const std::vector<SqlTable> tables_;
  const SqlLimits limits_;
  sqlite3* db_ = nullptr;
};

// One line for each column, as `.schema` shows it.
[[nodiscard]] std::vector<std::vector<std::string>> SchemaRows(const std::vector<SqlTable>& tables);

}  // namespace ratchet::sql
