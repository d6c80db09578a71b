// The cluster's switches, each by HBase's messages.
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "common/client/admin.h"
#include "common/rpc/methods/master_service.h"
#include "common/tools/cli/sql_settings.h"
#include "common/tools/cli/verbs.h"
#include "common/tools/cli/views.h"

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

// An empty `name`: all. `to`: "on", "off", or empty: only shows the state. `wait`: for splits and merges in progress.
struct SwitchFlags {
  std::string name;
  std::string to;
  bool wait = false;

  void Bind(CLI::App& verb) {
    auto* which = Take(verb, "switch", name, "SWITCH", "Which")
                      ->check(CLI::IsMember({"balancer", "split", "merge", "normalizer", "catalog-janitor", "cleaner",
                                             "snapshot-cleanup", "peer-modification", "rpc-throttle"}));
    Take(verb, "to", to, "on|off", "on or off")->check(CLI::IsMember({"on", "off"}))->needs(which);
    verb.add_flag("--wait", wait, "With `split off` and `merge off`: wait until running splits and merges have ended");
  }
};

Result<int> Switch(Session& session, const SwitchFlags& flags) {
  std::vector<std::vector<Field>> rows;
  for (const SwitchRow& row : AllSwitches()) {
    if (!flags.name.empty() && flags.name != row.name) continue;
    if (!flags.to.empty()) {
      RATCHET_TRY(row.set(session.admin, flags.to == "on", flags.wait));
    }
    RATCHET_ASSIGN(const auto on, row.is_on(session.admin));
    rows.push_back({std::string(row.name), std::string(on ? "on" : "off")});
  }
  session.printer.Table({"SWITCH", "STATE"}, rows);
  return kExitOk;
}

Result<int> Normalize(Session& session) {
  RATCHET_ASSIGN(const auto answer, (session.admin.Call(methods::kNormalize, {})));
  if (!answer.normalizer_ran()) {
    return Error(Code::kFailedPrecondition,
                 "the normalizer did nothing: it is switched off (ratchet switch normalizer), "
                 "operations in progress continue, or a dead server is being recovered (ratchet why)");
  }
  session.printer.Object({{"normalizer", std::string("ran")}});
  return kExitOk;
}

}  // namespace

Result<int> ShowSwitches(Session& session) { return Switch(session, {}); }

Result<std::vector<std::pair<std::string, bool>>> ReadSwitches(client::Admin& admin) {
  std::vector<std::pair<std::string, bool>> switches;
  for (const SwitchRow& row : AllSwitches()) {
    RATCHET_ASSIGN(const bool on, row.is_on(admin));
    switches.emplace_back(row.name, on);
  }
  return switches;
}

Verbs SwitchVerbs() {
  return {Plain("normalize", "Split and merge regions of tables that ask for it (NORMALIZATION_ENABLED), once",
                {"switch normalizer on && ratchet normalize"}, Normalize),
          Verb<SwitchFlags>("switch", "Show the cluster's switches, or set one",
                            {"switch", "switch split off", "switch merge off --wait", "switch balancer on"}, Switch)};
}

}  // namespace ratchet::cli
