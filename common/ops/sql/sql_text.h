// Rows of a query as text.
#pragma once

#include <string>
#include <vector>

#include "common/ops/sql/sql_table.h"

namespace ratchet::sql {

// One line of CSV (RFC 4180), without its end. NULL is an empty field, an empty text is "".
[[nodiscard]] std::string CsvLine(const SqlRow& row);
// Text for people: NULL is "-".
[[nodiscard]] std::string PlainText(const SqlValue& value);
// At most 15 digits; infinities as "inf" and "-inf".
[[nodiscard]] std::string RealText(double real);

}  // namespace ratchet::sql
