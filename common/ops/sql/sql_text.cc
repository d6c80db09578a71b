#include "common/ops/sql/sql_text.h"

#include <fmt/format.h>

namespace ratchet::sql {
namespace {

std::string CsvField(const SqlValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  if (const auto* real = std::get_if<double>(&value)) return RealText(*real);
  const auto* text = std::get_if<std::string>(&value);
  if (text == nullptr) return "";
  if (!text->empty() && text->find_first_of(",\"\r\n") == std::string::npos) return *text;
  std::string quoted = "\"";
  for (const char c : *text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

std::string CsvLine(const SqlRow& row) {
  std::string line;
  for (std::size_t i = 0; i < row.size(); ++i) line += (i == 0 ? "" : ",") + CsvField(row[i]);
  return line;
}

std::string PlainText(const SqlValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{:.6g}", *real);
  const auto* text = std::get_if<std::string>(&value);
  return text == nullptr ? "-" : *text;
}

std::string RealText(double real) { return fmt::format("{:.15g}", real); }

}  // namespace ratchet::sql
