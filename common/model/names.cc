#include <algorithm>
#include <cctype>
#include <charconv>

#include "common/model/server_name.h"
#include "common/model/table_name.h"

namespace ratchet {
namespace {

bool IsWordChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool IsQualifierChar(char c) { return IsWordChar(c) || c == '-' || c == '.'; }

template <class Number>
bool ParseNumber(std::string_view text, Number& out) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), out);
  return code == std::errc() && end == text.data() + text.size() && !text.empty();
}

std::size_t Mix(std::size_t a, std::size_t b) { return a ^ (b + 0x9e3779b97f4a7c15ULL + (a << 6) + (a >> 2)); }

}  // namespace

Result<TableName> TableName::Parse(std::string_view text) {
  const auto colon = text.find(':');
  TableName name = colon == std::string_view::npos
                       ? TableName(std::string(kDefaultNamespace), std::string(text))
                       : TableName(std::string(text.substr(0, colon)), std::string(text.substr(colon + 1)));
  RATCHET_TRY(name.Check());
  return name;
}

Status TableName::Check() const {
  if (ns.empty() || !std::all_of(ns.begin(), ns.end(), IsWordChar)) {
    return Error(Code::kInvalidArgument, fmt::format("illegal namespace '{}': letters, digits and '_' only", ns));
  }
  if (qualifier.empty()) return Error(Code::kInvalidArgument, "a table name must not be empty");
  if (qualifier.front() == '.' || qualifier.front() == '-' ||
      !std::all_of(qualifier.begin(), qualifier.end(), IsQualifierChar)) {
    return Error(Code::kInvalidArgument,
                 fmt::format("illegal table name '{}': letters, digits, '_', '-' and '.', not starting with '-' or '.'",
                             qualifier));
  }
  return Ok();
}

std::string TableName::ToString() const { return ns == kDefaultNamespace ? qualifier : ns + ":" + qualifier; }

const TableName& MetaTableName() {
  static const TableName* const kMeta = new TableName(std::string(kSystemNamespace), "meta");
  return *kMeta;
}

Result<ServerName> ServerName::Parse(std::string_view text) {
  const auto first = text.find(',');
  const auto second = first == std::string_view::npos ? first : text.find(',', first + 1);
  ServerName name;
  if (second == std::string_view::npos || first == 0 ||
      !ParseNumber(text.substr(first + 1, second - first - 1), name.port) ||
      !ParseNumber(text.substr(second + 1), name.start_code)) {
    return Error(Code::kInvalidArgument, fmt::format("'{}' is not a server name (host,port,startcode)", text));
  }
  name.host = text.substr(0, first);
  std::transform(name.host.begin(), name.host.end(), name.host.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

std::string ServerName::ToString() const { return fmt::format("{},{},{}", host, port, start_code); }

}  // namespace ratchet

std::size_t std::hash<ratchet::TableName>::operator()(const ratchet::TableName& name) const noexcept {
  return ratchet::Mix(std::hash<std::string>{}(name.ns), std::hash<std::string>{}(name.qualifier));
}

std::size_t std::hash<ratchet::ServerName>::operator()(const ratchet::ServerName& name) const noexcept {
  return ratchet::Mix(ratchet::Mix(std::hash<std::string>{}(name.host), name.port), name.start_code);
}
