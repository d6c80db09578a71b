// The cluster's switches, each by HBase's messages.
#include <functional>

#include <fmt/format.h>

#include "common/client/admin.h"
#include "common/rpc/methods/master_switches.h"
#include "common/rpc/methods/peers.h"
#include "common/rpc/methods/quotas.h"
#include "common/tools/cli/commands.h"
#include "common/tools/cli/sql_settings.h"

namespace ratchet::cli {
namespace {

struct SwitchRow {
  const char* name;
  std::function<Status(client::Admin&, bool on, bool wait)> set;
  std::function<Result<bool>(client::Admin&)> is_on;
};

template <class Method, class Request>
Status Done(client::Admin& admin, const Method& method, const Request& request) {
  const auto answer = admin.Call(method, request);
  return answer.ok() ? Ok() : Status(answer.error());
}

// Messages with a field `on` and an answer with `enabled`.
template <class Request, class Set, class Is>
SwitchRow WithOn(const char* name, const Set& set, const Is& is) {
  return {name,
          [&set](client::Admin& admin, bool on, bool /*wait*/) {
            Request request;
            request.set_on(on);
            return Done(admin, set, request);
          },
          [&is](client::Admin& admin) -> Result<bool> {
            RATCHET_ASSIGN(const auto answer, (admin.Call(is, {})));
            if constexpr (requires { answer.enabled(); }) {
              return answer.enabled();
            } else {
              return answer.value();
            }
          }};
}

SwitchRow SnapshotCleanup() {
  return {"snapshot-cleanup",
          [](client::Admin& admin, bool on, bool /*wait*/) {
            hbase::pb::SetSnapshotCleanupRequest request;
            request.set_enabled(on);
            return Done(admin, methods::kSwitchSnapshotCleanup, request);
          },
          [](client::Admin& admin) -> Result<bool> {
            RATCHET_ASSIGN(const auto answer, (admin.Call(methods::kIsSnapshotCleanupEnabled, {})));
            return answer.enabled();
          }};
}

SwitchRow RpcThrottle() {
  return {"rpc-throttle",
          [](client::Admin& admin, bool on, bool /*wait*/) {
            hbase::pb::SwitchRpcThrottleRequest request;
            request.set_rpc_throttle_enabled(on);
            return Done(admin, methods::kSwitchRpcThrottle, request);
          },
          [](client::Admin& admin) -> Result<bool> {
            RATCHET_ASSIGN(const auto answer, (admin.Call(methods::kIsRpcThrottleEnabled, {})));
            return answer.rpc_throttle_enabled();
          }};
}

SwitchRow SplitOrMerge(const char* name, hbase::pb::MasterSwitchType type) {
  return {name,
          [type](client::Admin& admin, bool on, bool wait) {
            hbase::pb::SetSplitOrMergeEnabledRequest request;
            request.set_enabled(on);
            request.set_synchronous(wait);
            request.add_switch_types(type);
            return Done(admin, methods::kSetSplitOrMergeEnabled, request);
          },
          [type](client::Admin& admin) -> Result<bool> {
            hbase::pb::IsSplitOrMergeEnabledRequest request;
            request.set_switch_type(type);
            RATCHET_ASSIGN(const auto answer, (admin.Call(methods::kIsSplitOrMergeEnabled, request)));
            return answer.enabled();
          }};
}

SwitchRow Janitor() {
  return {"catalog-janitor",
          [](client::Admin& admin, bool on, bool /*wait*/) {
            hbase::pb::EnableCatalogJanitorRequest request;
            request.set_enable(on);
            return Done(admin, methods::kEnableCatalogJanitor, request);
          },
          [](client::Admin& admin) -> Result<bool> {
            RATCHET_ASSIGN(const auto answer, (admin.Call(methods::kIsCatalogJanitorEnabled, {})));
            return answer.value();
          }};
}

std::vector<SwitchRow> AllSwitches() {
  return {WithOn<hbase::pb::SetBalancerRunningRequest>("balancer", methods::kSetBalancerRunning,
                                                       methods::kIsBalancerEnabled),
          SplitOrMerge("split", hbase::pb::SPLIT),
          SplitOrMerge("merge", hbase::pb::MERGE),
          WithOn<hbase::pb::SetNormalizerRunningRequest>("normalizer", methods::kSetNormalizerRunning,
                                                         methods::kIsNormalizerEnabled),
          Janitor(),
          WithOn<hbase::pb::SetCleanerChoreRunningRequest>("cleaner", methods::kSetCleanerChoreRunning,
                                                           methods::kIsCleanerChoreEnabled),
          SnapshotCleanup(),
          WithOn<hbase::pb::ReplicationPeerModificationSwitchRequest>("peer-modification",
                                                                      methods::kReplicationPeerModificationSwitch,
                                                                      methods::kIsReplicationPeerModificationEnabled),
          RpcThrottle()};
}

}  // namespace

Result<std::vector<std::pair<std::string, bool>>> ReadSwitches(client::Admin& admin) {
  std::vector<std::pair<std::string, bool>> switches;
  for (const SwitchRow& row : AllSwitches()) {
    RATCHET_ASSIGN(const bool on, row.is_on(admin));
    switches.emplace_back(row.name, on);
  }
  return switches;
}

int Switch(Session& session, const std::string& name, const std::string& to, bool wait) {
  client::Admin admin(session.connection, session.timeout);
  std::vector<std::vector<Field>> rows;
  for (const SwitchRow& row : AllSwitches()) {
    if (!name.empty() && name != row.name) continue;
    if (!to.empty()) {
      if (const Status set = row.set(admin, to == "on", wait); !set.ok()) return Report(session, set.error());
    }
    const auto on = row.is_on(admin);
    if (!on.ok()) return Report(session, on.error());
    rows.push_back({std::string(row.name), std::string(*on ? "on" : "off")});
  }
  session.printer.Table({"SWITCH", "STATE"}, rows);
  return kExitOk;
}

int Normalize(Session& session) {
  client::Admin admin(session.connection, session.timeout);
  const auto answer = admin.Call(methods::kNormalize, {});
  if (!answer.ok()) return Report(session, answer.error());
  if (!answer->normalizer_ran()) {
    return Report(session, Error(Code::kFailedPrecondition,
                                 "the normalizer did nothing: it is switched off (ratchet switch normalizer), "
                                 "operations in progress continue, or a dead server is being recovered (ratchet why)"));
  }
  session.printer.Object({{"normalizer", std::string("ran")}});
  return kExitOk;
}

}  // namespace ratchet::cli
