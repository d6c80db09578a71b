#include "common/http/http_request.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

#include "common/base/hex.h"

namespace ratchet::http {
namespace {

constexpr std::size_t kMostFields = 64;
constexpr std::size_t kMostParameters = 32;

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool Refuse(HttpRefusal* refusal, int status, std::string why) {
  *refusal = {status, std::move(why)};
  return false;
}

bool ParseQuery(std::string_view text, HttpRequest* request) {
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    if (pair.empty()) continue;
    const auto equals = pair.find('=');
    auto name = PercentDecoded(pair.substr(0, equals), true);
    auto value = PercentDecoded(equals == std::string_view::npos ? "" : pair.substr(equals + 1), true);
    if (!name.has_value() || !value.has_value() || request->query.size() >= kMostParameters) return false;
    request->query[*name] = std::move(*value);
  }
  return true;
}

bool ParseTarget(std::string_view target, HttpRequest* request, HttpRefusal* refusal) {
  target = target.substr(0, target.find('#'));
  const auto mark = target.find('?');
  auto path = PercentDecoded(target.substr(0, mark), false);
  if (!path.has_value() || path->empty() || path->front() != '/') {
    return Refuse(refusal, 400, "the target of the request is not a path");
  }
  request->path = std::move(*path);
  if (mark != std::string_view::npos && !ParseQuery(target.substr(mark + 1), request)) {
    return Refuse(refusal, 400, "the query of the request cannot be read");
  }
  return true;
}

bool ParseRequestLine(std::string_view line, HttpRequest* request, HttpRefusal* refusal) {
  const auto first = line.find(' ');
  const auto last = line.rfind(' ');
  if (first == std::string_view::npos || last == first) return Refuse(refusal, 400, "not an HTTP request");
  const std::string_view method = line.substr(0, first);
  const std::string_view version = line.substr(last + 1);
  if (version != "HTTP/1.1" && version != "HTTP/1.0")
    return Refuse(refusal, 505, "only HTTP/1.0 and HTTP/1.1 are supported");
  request->keep_alive = version == "HTTP/1.1";
  request->head = method == "HEAD";
  if (method != "GET" && method != "HEAD") {
    return Refuse(refusal, 405, "only GET and HEAD are allowed: this page is read-only");
  }
  return ParseTarget(line.substr(first + 1, last - first - 1), request, refusal);
}

bool ParseField(std::string_view line, HttpRequest* request, HttpRefusal* refusal) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0 || line.front() == ' ' || line.front() == '\t') {
    return Refuse(refusal, 400, "a line of the request's head is not a field");
  }
  if (request->fields.size() >= kMostFields) return Refuse(refusal, 431, "the request has too many fields");
  request->fields[LowerCase(line.substr(0, colon))] = std::string(Trimmed(line.substr(colon + 1)));
  return true;
}

}  // namespace

std::string HttpRequest::Parameter(const std::string& name) const {
  const auto found = query.find(name);
  return found == query.end() ? std::string() : found->second;
}

Result<std::uint64_t> HttpRequest::Number(const std::string& name, std::uint64_t otherwise, std::uint64_t low,
                                          std::uint64_t high) const {
  const std::string text = Parameter(name);
  if (text.empty()) return otherwise;
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end || number < low || number > high) {
    return Error(Code::kInvalidArgument, fmt::format("{}: a whole number from {} to {} is expected", name, low, high));
  }
  return number;
}

std::optional<std::size_t> HeadLength(std::string_view bytes) {
  const auto end = bytes.find("\r\n\r\n");
  if (end == std::string_view::npos) return std::nullopt;
  return end + 4;
}

bool ParseHead(std::string_view head, HttpRequest* request, HttpRefusal* refusal) {
  *request = {};
  bool first = true;
  while (!head.empty()) {
    const std::string_view line = head.substr(0, head.find("\r\n"));
    head.remove_prefix(std::min(head.size(), line.size() + 2));
    if (line.empty()) break;
    if (line.find('\0') != std::string_view::npos) return Refuse(refusal, 400, "the request has a zero byte");
    const bool fine = first ? ParseRequestLine(line, request, refusal) : ParseField(line, request, refusal);
    if (!fine) return false;
    first = false;
  }
  if (first) return Refuse(refusal, 400, "not an HTTP request");
  const auto length = request->fields.find("content-length");
  if ((length != request->fields.end() && length->second != "0") || request->fields.contains("transfer-encoding")) {
    return Refuse(refusal, 400, "a request with a body is not accepted");
  }
  if (const auto connection = request->fields.find("connection"); connection != request->fields.end()) {
    const std::string wish = LowerCase(connection->second);
    if (wish.find("close") != std::string::npos) request->keep_alive = false;
    if (wish.find("keep-alive") != std::string::npos) request->keep_alive = true;
  }
  return true;
}

std::optional<std::string> PercentDecoded(std::string_view text, bool plus_is_space) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded.push_back(text[i] == '+' && plus_is_space ? ' ' : text[i]);
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = HexDigit(text[i + 1]);
    const int low = HexDigit(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    decoded.push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  return decoded;
}

}  // namespace ratchet::http
