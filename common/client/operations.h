// A client's requests on rows and their results: plain values, no protobuf.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/model/cell.h"

namespace ratchet::client {

// A column; an empty optional qualifier means the whole family.
struct Column {
  std::string family;
  std::optional<std::string> qualifier;
};

// [from, to) in ms; unset: unbounded.
struct TimeBounds {
  std::optional<std::int64_t> from;
  std::optional<std::int64_t> to;
};

struct Get {
  std::string row;
  std::vector<Column> columns;  // empty: all
  std::uint32_t max_versions = 1;
  TimeBounds time;
};

enum class MutationKind : std::uint8_t { kPut, kDelete, kAppend, kIncrement };

// Changes of one row, atomic. Cells of a put, append or increment are kPut (an increment's value is 8 bytes
// big-endian); those of a delete carry their delete type. A delete without cells removes the whole row.
struct Mutation {
  MutationKind kind = MutationKind::kPut;
  std::string row;
  std::vector<Cell> cells;
  std::vector<std::pair<std::string, std::string>> attributes{};  // as HBase's clients send them

  static Mutation Put(std::string row) { return {MutationKind::kPut, std::move(row), {}, {}}; }
  static Mutation Delete(std::string row) { return {MutationKind::kDelete, std::move(row), {}, {}}; }
  static Mutation Append(std::string row) { return {MutationKind::kAppend, std::move(row), {}, {}}; }
  static Mutation Increment(std::string row) { return {MutationKind::kIncrement, std::move(row), {}, {}}; }
  // `timestamp` is left to the server by default.
  Mutation& Set(std::string family, std::string qualifier, std::string value,
                std::int64_t timestamp = kLatestTimestamp) {
    cells.push_back({row, std::move(family), std::move(qualifier), timestamp, CellType::kPut, std::move(value)});
    return *this;
  }
  Mutation& Add(std::string family, std::string qualifier, std::int64_t amount) {
    return Set(std::move(family), std::move(qualifier), EncodeInt64(amount));
  }
  Mutation& Remove(CellType type, std::string family, std::string qualifier = {},
                   std::int64_t timestamp = kLatestTimestamp) {
    cells.push_back({row, std::move(family), std::move(qualifier), timestamp, type, {}});
    return *this;
  }
};

// Numbers are those on the wire. The comparison reads: expected OP stored.
enum class CompareOp : std::uint8_t {
  kLess = 0,
  kLessOrEqual = 1,
  kEqual = 2,
  kNotEqual = 3,
  kGreaterOrEqual = 4,
  kGreater = 5,
};

// An empty `expected` means "absent or empty".
struct Condition {
  std::string family;
  std::string qualifier;
  CompareOp op = CompareOp::kEqual;
  std::string expected;
};

struct Scan {
  std::string start_row;  // empty: from the first row (the last one when reversed)
  std::string stop_row;   // empty: to the end
  bool include_start = true;
  bool include_stop = false;
  bool reversed = false;
  std::vector<Column> columns;
  std::uint32_t max_versions = 1;
  TimeBounds time;
  std::uint32_t rows_per_call = 1000;        // maximum number of rows in one answer, 1 to 1,000,000
  std::uint64_t bytes_per_call = 2U << 20U;  // a server answers with about this size at a time
  std::uint64_t limit = 0;                   // maximum number of rows; 0: unlimited
  std::string filter;                        // a serialised message Filter; empty: none
};

// One row. Empty cells: the row does not exist (Get).
struct Row {
  std::string key;
  std::vector<Cell> cells;
  // For an append or increment: an earlier attempt may have been executed. If so, the server found its nonce and
  // returned the columns with their current values, which other clients may have changed since that attempt.
  bool repeated = false;
  [[nodiscard]] bool empty() const { return cells.empty(); }
  // The newest value of a column; nullopt when it does not exist.
  [[nodiscard]] std::optional<std::string_view> Value(std::string_view family, std::string_view qualifier) const {
    for (const auto& cell : cells) {
      if (cell.family == family && cell.qualifier == qualifier) return cell.value;
    }
    return std::nullopt;
  }
};

}  // namespace ratchet::client
