#include "common/ops/page/info_page.h"

#include <unistd.h>

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
  RATCHET_LOG(kInfo, "Start: page at http://{}/", JoinHostPort(options_.host, server_->port()));
}

void InfoPage::Stop() {
  if (server_ != nullptr) server_->Stop();
}

http::HttpStats InfoPage::stats() const { return server_ == nullptr ? http::HttpStats{} : server_->stats(); }

}  // namespace ratchet::page
