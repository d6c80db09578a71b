#include "common/tools/cli/sql_output.h"

#include <cmath>
#include <cstdio>
#include <utility>

#include "common/ops/sql/sql_text.h"
#include "common/tools/cli/bytes_text.h"

namespace ratchet::cli {
namespace {

Field FieldOf(sql::SqlValue value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
  if (const auto* real = std::get_if<double>(&value))  // JSON has no infinity
    return std::isfinite(*real) ? Field(*real) : Field(sql::RealText(*real));
  if (const auto* text = std::get_if<std::string>(&value)) return ToText(*text);
  return {};
}

}  // namespace

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

}  // namespace ratchet::cli
