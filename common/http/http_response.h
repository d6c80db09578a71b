// A handler's answer, and its bytes.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace ratchet::http {

// Returns more text of a stream, since the last call; empty: none yet; nullopt: the stream has ended. Runs on a worker
// of the lane for streams, one call at a time for a stream. It may block for as long as any handler may.
using StreamSource = std::function<std::optional<std::string>()>;

struct HttpResponse {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::shared_ptr<const std::string> body;  // null: empty. Shared, so that a page is not copied for each client.
  StreamSource stream;                      // sent after the body, until one side ends it

  static HttpResponse Of(int status, std::string type, std::string body) {
    return {status, std::move(type), std::make_shared<const std::string>(std::move(body)), {}};
  }
  static HttpResponse Text(int status, const std::string& line) {
    return Of(status, "text/plain; charset=utf-8", line + "\n");
  }
  static HttpResponse Json(int status, std::string body) { return Of(status, "application/json", std::move(body)); }
};

[[nodiscard]] std::string_view StatusText(int status);
// Status line and fields, with the empty line. Every answer carries the policy that lets a page run its own files only,
// and no script or style within the text.
[[nodiscard]] std::string ResponseHead(const HttpResponse& response, bool keep_alive);

}  // namespace ratchet::http
