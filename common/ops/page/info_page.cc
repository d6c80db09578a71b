#include "common/ops/page/info_page.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "common/base/host_port.h"
#include "common/base/log.h"
#include "common/base/setting_value.h"

namespace ratchet::page {
namespace {

http::HostRule NamesOf(const InfoPageOptions& options) {
  std::vector<std::string> names = SplitList(options.names + "," + options.host);
  std::array<char, 256> machine{};
  if (::gethostname(machine.data(), machine.size() - 1) == 0) names.emplace_back(machine.data());
  return http::HostRule(names);
}

}  // namespace

InfoPage::InfoPage(const InfoPageOptions& options) : options_(options) {
  if (options.port == kNoPage) return;
  http::HttpOptions http;
  http.host = options.host;
  http.port = static_cast<std::uint16_t>(options.port);
  http.names = NamesOf(options);
  http.gate = options.gate;
  if (options.tls != "off") {
    http.tls_mode = options.tls == "require" ? http::HttpTlsMode::kRequire : http::HttpTlsMode::kAccept;
    http.tls = tls::ProcessTls::OfProcess();
  }
  server_ = std::make_unique<http::HttpServer>(std::move(http));
}

InfoPage::~InfoPage() { Stop(); }

void InfoPage::Handle(const std::string& path, http::Lane lane, http::HttpHandler handler) {
  if (server_ != nullptr) server_->Handle(path, lane, std::move(handler));
}

void InfoPage::Start() {
  if (server_ == nullptr) {
    RATCHET_LOG(kInfo, "Start: no page and no metrics by HTTP (--info-port {})", options_.port);
    return;
  }
  const Status started = server_->Start();
  if (!started.ok()) {
    RATCHET_LOG(kWarn, "Start: {}; this process continues without its page and /metrics (--info-port)",
                started.error().message());
    return;
  }
  port_.store(server_->port());
  RATCHET_LOG(kInfo, "Start: page at {}://{}/", options_.tls == "off" ? "http" : "https",
              JoinHostPort(options_.host, server_->port()));
}

Status InfoPage::CheckReach(bool insecure) const {
  if (port() < 0) return Ok();
  const std::vector<std::string> addresses = server_->addresses();
  const bool inside = std::all_of(addresses.begin(), addresses.end(), IsLoopbackAddress);
  const bool safe = options_.tls == "require" && options_.gate != nullptr && options_.gate->asks();
  if (inside || safe) return Ok();
  if (insecure) {
    RATCHET_LOG(kWarn, "security: others read the page without HTTPS or without a login (--insecure)");
    return Ok();
  }
  return Error(Code::kInvalidArgument,
               "--info-host is reached by others: give --info-tls require with --info-logins or --rights enforce, or "
               "--insecure");
}

void InfoPage::Stop() {
  if (server_ != nullptr) server_->Stop();
}

http::HttpStats InfoPage::stats() const { return server_ == nullptr ? http::HttpStats{} : server_->stats(); }

}  // namespace ratchet::page
