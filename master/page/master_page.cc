#include "master/page/master_page.h"

#include <utility>

#include <fmt/format.h>

#include "common/metrics/exposition.h"
#include "common/ops/page/static_files.h"
#include "master/page/marks.h"
#include "master/page/master_metrics.h"
#include "master/procedures/crash/server_crash.h"
#include "procedure/api/executor.h"

namespace ratchet::master {
namespace {

class RecoveryListener final : public procedure::ProcedureListener {
 public:
  RecoveryListener(const MasterGate& gate, std::shared_ptr<RecoveryBook> book) : gate_(gate), book_(std::move(book)) {}

  void OnFinished(const procedure::ProcedureInfo& info) override {
    if (info.type != ServerCrash::kTypeName) return;
    const auto parts = gate_.Admit(Need::kRecovered);
    if (parts.ok()) book_->Note(parts->executor->History(info.pid), info.updated_ms);
  }

 private:
  const MasterGate& gate_;
  const std::shared_ptr<RecoveryBook> book_;
};

}  // namespace

MasterPage::MasterPage(MasterPageDeps deps)
    : deps_(std::move(deps)),
      listener_(std::make_shared<RecoveryListener>(deps_.env.gate, recoveries_)),
      views_({deps_.env.gate.clock(), [this] { return deps_.env.gate.self().ToString(); },
              [this] { return std::string(RoleName(deps_.env.gate.role())); },
              [this] { return deps_.env.gate.self().Address(); }, deps_.zookeeper, deps_.znode_parent, deps_.settings,
              deps_.steps_json, [this] { return Marks(deps_.env); }}),
      page_(deps_.options) {
  page::AddStaticFiles(page_);
  views_.AddTo(page_);
  page_.Handle("/metrics", http::Lane::kFast, [this](const http::HttpRequest&) {
    const MasterMetricsSources sources{deps_.env, deps_.rpc, *recoveries_, [this] { return deps_.session.state(); },
                                       [this] { return page_.stats(); }};
    return http::HttpResponse::Of(200, std::string(metrics::kContentType), MasterMetrics(sources));
  });
  page_.Start();
  deps_.env.info_port.store(page_.port());
}

MasterPage::~MasterPage() { Stop(); }

void MasterPage::Stop() {
  views_.Close();
  page_.Stop();
}

}  // namespace ratchet::master
