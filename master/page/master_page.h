// HTTP server of a master in each of its roles: the page, its JSON (docs/http-api.md), its metrics (docs/metrics.md).
//
// Life: made and started with the RPC server, stopped before the active master's parts are destroyed. Threads: its own;
// no thread of the master waits for them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/base/config.h"
#include "common/ops/api/api_views.h"
#include "common/ops/page/info_page.h"
#include "common/rpc/server.h"
#include "common/zk/zk_session.h"
#include "master/page/recovery_book.h"
#include "master/rpc/master_services.h"
#include "procedure/api/procedure_listener.h"

namespace ratchet::master {

struct MasterPageDeps {
  page::InfoPageOptions options;
  ServiceEnv& env;
  const rpc::RpcServer& rpc;
  const zk::ZkSession& session;
  std::string zookeeper;  // ensemble with the active master's address
  std::string znode_parent;
  std::function<std::vector<SettingRow>()> settings;  // current values
  std::function<std::string()> steps_json;            // every procedure type with its steps
};

class MasterPage {
 public:
  // Starts the page. The objects in `deps` outlive it.
  explicit MasterPage(MasterPageDeps deps);
  ~MasterPage();

  // Listener for the executor, which measures recoveries; outlives the page.
  [[nodiscard]] std::shared_ptr<procedure::ProcedureListener> listener() const { return listener_; }
  // Port as published in ZooKeeper; 0 without a page.
  [[nodiscard]] std::uint32_t shown_port() const { return page_.shown_port(); }
  // See InfoPage::CheckReach.
  [[nodiscard]] Status CheckReach(bool insecure) const { return page_.CheckReach(insecure); }
  void Stop();

 private:
  const MasterPageDeps deps_;
  const std::shared_ptr<RecoveryBook> recoveries_ = std::make_shared<RecoveryBook>();
  const std::shared_ptr<procedure::ProcedureListener> listener_;
  api::ApiViews views_;
  page::InfoPage page_;
};

}  // namespace ratchet::master
