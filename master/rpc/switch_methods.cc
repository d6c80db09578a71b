// MasterService: the cluster's switches, with HBase's messages. The answer is sent when the change is durable and
// applied.
#include <optional>
#include <set>
#include <string>

#include "common/model/codec.h"
#include "common/rpc/methods/master_service.h"
#include "master/cluster/errors.h"
#include "master/repair/reconciler.h"
#include "master/rpc/master_services.h"
#include "master/rpc/reply.h"
#include "master/rpc/submission.h"
#include "master/rpc/table_filter.h"
#include "master/startup/master_logic.h"

namespace ratchet::master {
namespace {

namespace pb = ::hbase::pb;

// Registers the methods that set and read one switch. `on_of(request)`, `put(before, response)`, `show(on, response)`.
template <class Set, class SetResponse, class Is, class IsResponse, class OnOf, class Put, class Show>
void AddSwitch(rpc::Service& service, const ServiceEnv& env, Switch which, const rpc::Method<Set, SetResponse>& set,
               const rpc::Method<Is, IsResponse>& is, OnOf on_of, Put put, Show show) {
  AnswerLater(service, env.gate, Need::kReady, set,
              [which, on_of, put](const ActiveParts& parts, const rpc::CallContext& call, const Set& request,
                                  const rpc::Responder<SetResponse>& responder) {
                parts.logic->switch_admin.Set({{which}, on_of(request), false, ContextOf(call)},
                                              [parts, put, responder](const Result<std::vector<bool>>& before) {
                                                if (!before.ok()) return FailChecked(parts, responder, before.error());
                                                SetResponse response;
                                                for (const bool was_on : *before) put(was_on, response);
                                                ReplyChecked(parts, responder, response);
                                              });
              });
  Answer(service, env.gate, Need::kReady, is,
         [which, show](const ActiveParts& parts, const rpc::CallContext& /*call*/,
                       const Is& /*request*/) -> Result<IsResponse> {
           IsResponse response;
           show(parts.logic->switches.IsOn(which), response);
           return response;
         });
}

Switch SwitchOf(int type) { return type == pb::MERGE ? Switch::kMerge : Switch::kSplit; }

void AddSplitOrMerge(rpc::Service& service, const ServiceEnv& env) {
  AnswerLater(service, env.gate, Need::kReady, methods::kSetSplitOrMergeEnabled,
              [](const ActiveParts& parts, const rpc::CallContext& call, const pb::SetSplitOrMergeEnabledRequest& asked,
                 const rpc::Responder<pb::SetSplitOrMergeEnabledResponse>& responder) {
                SwitchAdmin::Request request{{}, asked.enabled(), asked.synchronous(), ContextOf(call)};
                for (const int type : asked.switch_types()) request.switches.push_back(SwitchOf(type));
                parts.logic->switch_admin.Set(std::move(request),
                                              [parts, responder](const Result<std::vector<bool>>& before) {
                                                if (!before.ok()) return FailChecked(parts, responder, before.error());
                                                pb::SetSplitOrMergeEnabledResponse response;
                                                for (const bool was_on : *before) response.add_prev_value(was_on);
                                                ReplyChecked(parts, responder, response);
                                              });
              });
  Answer(service, env.gate, Need::kReady, methods::kIsSplitOrMergeEnabled,
         [](const ActiveParts& parts, const rpc::CallContext& /*call*/,
            const pb::IsSplitOrMergeEnabledRequest& request) -> Result<pb::IsSplitOrMergeEnabledResponse> {
           pb::IsSplitOrMergeEnabledResponse response;
           response.set_enabled(parts.logic->switches.IsOn(SwitchOf(request.switch_type())));
           return response;
         });
}

// As in HBase, has no effect while the cleaner is switched off, and reports this. A master that stops meanwhile reports
// the same.
void RunCleanerNow(const ActiveParts& parts, const rpc::CallContext& /*call*/,
                   const pb::RunCleanerChoreRequest& /*request*/,
                   const rpc::Responder<pb::RunCleanerChoreResponse>& responder) {
  const auto answer = [parts, responder](bool ran) {
    pb::RunCleanerChoreResponse response;
    response.set_cleaner_chore_ran(ran);
    ReplyChecked(parts, responder, response);
  };
  const auto& run = parts.logic->env.run_cleaner;
  if (!parts.logic->switches.IsOn(Switch::kCleaner) || !run) return answer(false);
  if (!run(answer)) FailChecked(parts, responder, CleanerIsAsked());
}

// Normalizes the tables that the request names or that match its pattern and namespace; all tables without either.
Result<pb::NormalizeResponse> NormalizeNow(const ActiveParts& parts, const rpc::CallContext& call,
                                           const pb::NormalizeRequest& request) {
  std::set<TableName> named;
  for (const pb::TableName& each : request.table_names()) {
    const auto name = FromProto(each);
    if (!name.ok()) return IllegalRequest(name.error().message());
    named.insert(*name);
  }
  const auto regex = request.has_regex() ? std::optional<std::string>(request.regex()) : std::nullopt;
  RATCHET_ASSIGN(const TableFilter filter, TableFilter::Make(regex, request.namespace_(), false));
  pb::NormalizeResponse response;
  response.set_normalizer_ran(parts.logic->normalizer.Run(ContextOf(call), [&](const TableName& table) {
    return (named.empty() || named.contains(table)) && filter.Matches(table);
  }));
  return response;
}

}  // namespace

void AddSwitchMethods(rpc::Service& service, ServiceEnv& env) {
  AddSplitOrMerge(service, env);
  AddSwitch(
      service, env, Switch::kBalancer, methods::kSetBalancerRunning, methods::kIsBalancerEnabled,
      [](const auto& request) { return request.on(); },
      [](bool was_on, auto& response) { response.set_prev_balance_value(was_on); },
      [](bool on, auto& response) { response.set_enabled(on); });
  AddSwitch(
      service, env, Switch::kNormalizer, methods::kSetNormalizerRunning, methods::kIsNormalizerEnabled,
      [](const auto& request) { return request.on(); },
      [](bool was_on, auto& response) { response.set_prev_normalizer_value(was_on); },
      [](bool on, auto& response) { response.set_enabled(on); });
  AddSwitch(
      service, env, Switch::kCatalogJanitor, methods::kEnableCatalogJanitor, methods::kIsCatalogJanitorEnabled,
      [](const auto& request) { return request.enable(); },
      [](bool was_on, auto& response) { response.set_prev_value(was_on); },
      [](bool on, auto& response) { response.set_value(on); });
  AddSwitch(
      service, env, Switch::kCleaner, methods::kSetCleanerChoreRunning, methods::kIsCleanerChoreEnabled,
      [](const auto& request) { return request.on(); },
      [](bool was_on, auto& response) { response.set_prev_value(was_on); },
      [](bool on, auto& response) { response.set_value(on); });
  AddSwitch(
      service, env, Switch::kSnapshotCleanup, methods::kSwitchSnapshotCleanup, methods::kIsSnapshotCleanupEnabled,
      [](const auto& request) { return request.enabled(); },
      [](bool was_on, auto& response) { response.set_prev_snapshot_cleanup(was_on); },
      [](bool on, auto& response) { response.set_enabled(on); });
  AddSwitch(
      service, env, Switch::kRpcThrottle, methods::kSwitchRpcThrottle, methods::kIsRpcThrottleEnabled,
      [](const auto& request) { return request.rpc_throttle_enabled(); },
      [](bool was_on, auto& response) { response.set_previous_rpc_throttle_enabled(was_on); },
      [](bool on, auto& response) { response.set_rpc_throttle_enabled(on); });
  AddSwitch(
      service, env, Switch::kPeerModification, methods::kReplicationPeerModificationSwitch,
      methods::kIsReplicationPeerModificationEnabled, [](const auto& request) { return request.on(); },
      [](bool was_on, auto& response) { response.set_previous_value(was_on); },
      [](bool on, auto& response) { response.set_enabled(on); });
  AnswerLater(service, env.gate, Need::kReady, methods::kRunCleanerChore, RunCleanerNow);
  Answer(service, env.gate, Need::kReady, methods::kNormalize, NormalizeNow);
  // While the janitor is switched off, returns -1, as HBase does.
  Answer(service, env.gate, Need::kReady, methods::kRunCatalogScan,
         [](const ActiveParts& parts, const rpc::CallContext& /*call*/,
            const pb::RunCatalogScanRequest& /*request*/) -> Result<pb::RunCatalogScanResponse> {
           pb::RunCatalogScanResponse response;
           const bool on = parts.logic->switches.IsOn(Switch::kCatalogJanitor);
           response.set_scan_result(on ? static_cast<std::int32_t>(parts.logic->reconciler.RemoveGarbageNow()) : -1);
           return response;
         });
}

}  // namespace ratchet::master
