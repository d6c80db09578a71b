// HttpGate: decides whether a request may reach its handler.
#pragma once

#include <optional>

#include "common/http/http_request.h"
#include "common/http/http_response.h"

namespace ratchet::http {

// Thread-safe.
class HttpGate {
 public:
  virtual ~HttpGate() = default;
  // Called on the server's thread. False: Admit needs so much time that it runs in a lane of its own.
  [[nodiscard]] virtual bool IsQuick(const HttpRequest& request) const = 0;
  // Called on a worker, for each request, and again while a stream is followed. A response is the refusal.
  [[nodiscard]] virtual std::optional<HttpResponse> Admit(const HttpRequest& request) = 0;
};

}  // namespace ratchet::http
