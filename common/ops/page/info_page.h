// The HTTP server of a process (HBase's info server), on --info-port. It is optional: a process without it works.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "common/base/result.h"
#include "common/http/http_server.h"
#include "common/ops/page/page_gate.h"

namespace ratchet::page {

inline constexpr std::int64_t kNoPage = -1;

struct InfoPageOptions {
  std::string host = "127.0.0.1";  // address to listen on
  std::int64_t port = kNoPage;     // 0: any free one
  // Names in the field Host that are answered, besides `host`, this machine's name, addresses and localhost.
  std::string names{};               // separated by commas
  std::string tls = "off";           // "accept" or "require": HTTPS by the process's certificate
  std::shared_ptr<PageGate> gate{};  // null: every reader sees everything
};

// One owner. Stop (and the destructor) returns when no handler runs.
class InfoPage {
 public:
  explicit InfoPage(const InfoPageOptions& options);
  ~InfoPage();

  // Before Start. See HttpServer::Handle; does nothing when the page is off.
  void Handle(const std::string& path, http::Lane lane, http::HttpHandler handler);
  // Starts to listen. If the port is in use, that is logged and the process continues without a page.
  void Start();
  void Stop();
  // kNoPage before Start, when it is off, and when it could not listen. Thread-safe.
  [[nodiscard]] std::int64_t port() const { return port_.load(); }
  // The port as shown in ZooKeeper's nodes, where 0 means none.
  [[nodiscard]] std::uint32_t shown_port() const { return port() < 0 ? 0 : static_cast<std::uint32_t>(port()); }
  [[nodiscard]] http::HttpStats stats() const;
  // After Start. kInvalidArgument: others reach the page, and neither HTTPS with readers that log in nor --insecure was
  // given.
  [[nodiscard]] Status CheckReach(bool insecure) const;

 private:
  const InfoPageOptions options_;
  std::unique_ptr<http::HttpServer> server_;  // null: the page is off
  std::atomic<std::int64_t> port_{kNoPage};
};

}  // namespace ratchet::page
