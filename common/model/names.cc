#include <algorithm>
#include <cctype>
#include <charconv>

#include "common/base/host_port.h"
#include "common/model/name_rules.h"
#include "common/model/server_name.h"
#include "common/model/table_name.h"

namespace ratchet {
namespace {

bool IsWordChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool IsQualifierChar(char c) { return IsWordChar(c) || c == '-' || c == '.'; }

bool IsHostChar(char c) {
  const bool alphanumeric = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return alphanumeric || c == '.' || c == '-' || c == '_' || c == ':';
}

// Makes text from outside fit for a message: removes control characters and the end of a long text.
std::string Shown(std::string_view text) {
  constexpr std::size_t kShownBytes = 100;
  std::string shown(text.substr(0, kShownBytes));
  std::replace_if(
      shown.begin(), shown.end(), [](unsigned char c) { return c < 0x20 || c >= 0x7f; }, '?');
  return text.size() > kShownBytes ? shown + "..." : shown;
}

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
  for (const std::string* part : {&ns, &qualifier}) {
    if (part->size() > kMaxTableNamePartBytes) {
      return Error(
          Code::kInvalidArgument,
          fmt::format("the {} '{}' has {} bytes: at most {}, since a directory is named so",
                      part == &ns ? "namespace" : "table name", Shown(*part), part->size(), kMaxTableNamePartBytes));
    }
  }
  if (ns.empty() || !std::all_of(ns.begin(), ns.end(), IsWordChar)) {
    return Error(Code::kInvalidArgument,
                 fmt::format("illegal namespace '{}': letters, digits and '_' only", Shown(ns)));
  }
  if (qualifier.empty()) return Error(Code::kInvalidArgument, "a table name must not be empty");
  if (qualifier.front() == '.' || qualifier.front() == '-' ||
      !std::all_of(qualifier.begin(), qualifier.end(), IsQualifierChar)) {
    return Error(Code::kInvalidArgument,
                 fmt::format("illegal table name '{}': letters, digits, '_', '-' and '.', not starting with '-' or '.'",
                             Shown(qualifier)));
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
    return Error(Code::kInvalidArgument, fmt::format("'{}' is not a server name (host,port,startcode)", Shown(text)));
  }
  name.host = text.substr(0, first);
  RATCHET_TRY(CheckServerName(name));
  // "+5" and "005" are numbers too, but no server writes them: the name would differ from the text that was read.
  if (name.ToString() != text) {
    return Error(Code::kInvalidArgument,
                 fmt::format("'{}' is not a server name as servers write it: {}", Shown(text), name.ToString()));
  }
  return name;
}

Status CheckHost(std::string_view host) {
  if (host.empty()) return Error(Code::kInvalidArgument, "a server's host name must not be empty");
  if (host.size() > kMaxHostBytes) {
    return Error(Code::kInvalidArgument, fmt::format("a host name of {} bytes, '{}', is too long: at most {} bytes",
                                                     host.size(), Shown(host), kMaxHostBytes));
  }
  if (!IsHostChar(host.front()) || host.front() == '-' || host.front() == '.' || host.front() == '_' ||
      !std::all_of(host.begin(), host.end(), IsHostChar)) {
    return Error(Code::kInvalidArgument,
                 fmt::format("'{}' is not a host name: letters, digits, '.', '-', '_' and ':' only, "
                             "beginning with a letter, a digit or ':'",
                             Shown(host)));
  }
  return Ok();
}

std::string LowerCaseHost(std::string host) {
  std::transform(host.begin(), host.end(), host.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return host;
}

Status CheckServerName(const ServerName& name) {
  RATCHET_TRY(CheckHost(name.host));
  if (name.port == 0) return Error(Code::kInvalidArgument, fmt::format("server {}: port 0 is not a port", name.host));
  if (name.start_code == 0 || name.start_code > kMaxStartCode) {
    return Error(Code::kInvalidArgument, fmt::format("server {}: start code {} is not a time in milliseconds (1 to {})",
                                                     name.Address(), name.start_code, kMaxStartCode));
  }
  return Ok();
}

std::string ServerName::ToString() const { return fmt::format("{},{},{}", host, port, start_code); }
std::string ServerName::Address() const { return JoinHostPort(host, port); }

}  // namespace ratchet

std::size_t std::hash<ratchet::TableName>::operator()(const ratchet::TableName& name) const noexcept {
  return ratchet::Mix(std::hash<std::string>{}(name.ns), std::hash<std::string>{}(name.qualifier));
}

std::size_t std::hash<ratchet::ServerName>::operator()(const ratchet::ServerName& name) const noexcept {
  return ratchet::Mix(ratchet::Mix(std::hash<std::string>{}(name.host), name.port), name.start_code);
}
