#include "common/http/http_response.h"

#include <fmt/format.h>

namespace ratchet::http {

std::string_view StatusText(int status) {
  switch (status) {
    case 200: return "OK";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 421: return "Misdirected Request";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    case 505: return "HTTP Version Not Supported";
    default: return "Answer";
  }
}

std::string ResponseHead(const HttpResponse& response, bool keep_alive) {
  const bool stream = static_cast<bool>(response.stream);
  std::string head = fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\n", response.status, StatusText(response.status),
                                 response.type);
  if (!stream) head += fmt::format("Content-Length: {}\r\n", response.body == nullptr ? 0 : response.body->size());
  if (response.status == 405) head += "Allow: GET, HEAD\r\n";
  if (response.status == 401) head += "WWW-Authenticate: Basic realm=\"ratchet\", charset=\"UTF-8\"\r\n";
  if (response.status == 429) head += "Retry-After: 60\r\n";
  if (response.status == 503) head += "Retry-After: 1\r\n";
  head += keep_alive && !stream ? "Connection: keep-alive\r\n" : "Connection: close\r\n";
  head +=
      "Cache-Control: no-store\r\n"
      "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
      "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n"
      "X-Content-Type-Options: nosniff\r\n"
      "Referrer-Policy: no-referrer\r\n"
      "\r\n";
  return head;
}

}  // namespace ratchet::http
