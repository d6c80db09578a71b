// Converts fields of the master's answers into values of the tables of `ratchet sql`. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "common/ops/sql/sql_table.h"

namespace ratchet::cli {

inline sql::SqlValue WholeOf(std::uint64_t number) { return static_cast<std::int64_t>(number); }
inline sql::SqlValue Flag(bool flag) { return std::int64_t{flag ? 1 : 0}; }
// NULL for an empty text.
inline sql::SqlValue TextOf(const std::string& text) { return text.empty() ? sql::SqlValue() : sql::SqlValue(text); }

}  // namespace ratchet::cli
