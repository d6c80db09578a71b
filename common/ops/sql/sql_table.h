// The schema and data of a query: tables with typed columns, and their rows. Values; any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace ratchet::sql {

enum class SqlType : std::uint8_t { kInteger, kReal, kText };

struct SqlColumn {
  const char* name;
  SqlType type;
  const char* help;  // one line, with the unit
};

struct SqlTable {
  std::string name;
  std::string help;  // one line
  std::vector<SqlColumn> columns;
};

// monostate: NULL.
using SqlValue = std::variant<std::monostate, std::int64_t, double, std::string>;
using SqlRow = std::vector<SqlValue>;

// Receives the rows of one table one after the other, each with a value for each column, in their order.
using SqlSink = std::function<void(SqlRow)>;

}  // namespace ratchet::sql
