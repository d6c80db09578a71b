// The HTTP server of a process. One thread holds all sockets and runs no handler; workers run the handlers
// (http_workers.h). Every resource has a bound (README.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/http/host_rule.h"
#include "common/http/http_connection.h"
#include "common/http/http_gate.h"
#include "common/http/http_request.h"
#include "common/http/http_response.h"
#include "common/http/http_wire.h"
#include "common/http/http_workers.h"

namespace ratchet::http {

struct HttpOptions {
  std::string host = "127.0.0.1";  // addresses or names to listen on, split by commas; every address of a name
  std::uint16_t port = 0;          // 0: any free one
  HostRule names{};                // the values of the field Host that are answered
  HttpTlsMode tls_mode = HttpTlsMode::kOff;
  std::shared_ptr<const tls::ProcessTls> tls{};  // not null unless the mode is kOff
  std::shared_ptr<HttpGate> gate{};              // null: every request passes
  std::size_t max_connections = 256;
  std::size_t max_streams = 32;              // followers; one more is answered with 503
  std::size_t max_body_bytes = 16u << 20;    // of one answer; a larger one is answered with 500
  std::size_t max_unsent_bytes = 64u << 20;  // of all answers; above it the slowest reader is closed
  Millis stream_interval{500};               // interval between two calls of a stream's source
  HttpConnectionLimits limits{};
  HttpWorkersOptions workers{};
};

// Runs on a worker; may throw (answered with 500, and logged). Thread-safe.
using HttpHandler = std::function<HttpResponse(const HttpRequest&)>;

struct HttpStats {
  std::uint64_t connections_open = 0;
  std::uint64_t streams_open = 0;
  std::uint64_t requests = 0;
  std::uint64_t refused = 0;  // 503, and connections that were closed because the server was full
};

// Thread-safe after Start. Stop (and the destructor) returns when no handler runs; open connections are closed.
class HttpServer {
 public:
  explicit HttpServer(HttpOptions options);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Before Start. `path`: exact, or a prefix when it ends with '/' (the longest match counts), "/" only itself.
  void Handle(const std::string& path, Lane lane, HttpHandler handler);
  // Errors as io::ListenOn; the message names the address.
  [[nodiscard]] Status Start();
  void Stop();
  [[nodiscard]] std::uint16_t port() const;                  // after Start
  [[nodiscard]] std::vector<std::string> addresses() const;  // numeric; after Start
  [[nodiscard]] HttpStats stats() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ratchet::http
