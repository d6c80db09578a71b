// The pages that a region server serves over HTTP.
#include <utility>

#include "common/base/setting_value.h"
#include "common/client/member_of_process.h"
#include "common/metrics/exposition.h"
#include "common/ops/api/api_views.h"
#include "common/ops/page/static_files.h"
#include "regionserver/process/server_metrics.h"
#include "regionserver/process/server_parts.h"

namespace ratchet::regionserver {

void ServerParts::ShowPage(const ServerOptions& options) {
  client::SetMemberOfProcess({options.zookeeper, options.zk_parent, member});
  views = std::make_unique<api::ApiViews>(api::ApiDeps{
      .clock = clock,
      .self = [this] { return self.ToString(); },
      .role = [] { return std::string("regionserver"); },
      .own_address = [] { return std::string(); },
      .zookeeper = options.zookeeper,
      .znode_parent = options.zk_parent,
      .settings = options.settings,
  });
  page = std::make_unique<page::InfoPage>(
      page::InfoPageOptions{.host = options.info_host,
                            .port = options.info_port,
                            .names = Join({options.host, options.bind, options.info_names}, ","),
                            .tls = options.page_access.tls,
                            .gate = std::make_shared<page::PageGate>(*judge, identity::PageLogins::OfProcess())});
  page::AddStaticFiles(*page);
  views->AddTo(*page);
  page->Handle("/metrics", http::Lane::kFast, [this](const http::HttpRequest&) {
    return http::HttpResponse::Of(200, std::string(metrics::kContentType), ServerMetrics(*this));
  });
  page->Start();
}

void ServerParts::StopPage() {
  if (views != nullptr) views->Close();
  if (page != nullptr) page->Stop();
}

}  // namespace ratchet::regionserver
