// Requests about one snapshot: it belongs to the user who has taken it. Internal.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/mutant.h"
#include "common/model/proto/snapshot.pb.h"
#include "common/rights/judge.h"
#include "master/rpc/master_services.h"
#include "master/rpc/reply.h"
#include "master/rpc/targets.h"
#include "master/startup/master_logic.h"

namespace ratchet::master {

[[nodiscard]] inline rights::Demand OwnerOrAdmin(std::string owner) {
  return {rights::Scope::Global(), rights::Action::kAdmin, false, std::move(owner)};
}

// Calls `then` with the description of the snapshot if `judge` accepts it; otherwise fails the call. nullopt: every
// snapshot is permitted. A name without a snapshot gives a description without an owner. The list of snapshots is read
// only if rights apply.
template <class Response, class Judge, class Then>
void WithSnapshot(const ServiceEnv& env, const ActiveParts& parts, const rpc::Responder<Response>& responder,
                  const std::string& name, Judge judge, Then then) {
  if (env.judge == nullptr || !env.judge->judges() || env.judge->IsAbove(CallerOf(responder.context())))
    return then(std::nullopt);
  parts.logic->snapshot_admin.List(
      [parts, responder, name, judge, then](const Result<std::vector<hbase::pb::SnapshotDescription>>& all) {
        if (!all.ok()) return FailChecked(parts, responder, all.error());
        hbase::pb::SnapshotDescription found;
        for (const hbase::pb::SnapshotDescription& each : *all) {
          if (each.name() == name) found = each;
        }
        if (!found.has_name()) found.set_owner(parts.logic->snapshot_admin.OwnerOfUnfinished(name));
        const Status allowed = judge(found);
        if (!allowed.ok()) return FailChecked(parts, responder, allowed.error());
        then(std::optional<hbase::pb::SnapshotDescription>(std::move(found)));
      });
}

// For a request about a snapshot: only its owner, and administrators, pass, S166 (others' objects stay unknown).
template <class Response, class Then>
void WithOwnSnapshot(const ServiceEnv& env, const ActiveParts& parts, const rpc::Responder<Response>& responder,
                     const std::string& name, Then then) {
  WithSnapshot(
      env, parts, responder, name,
      [&env, responder](const hbase::pb::SnapshotDescription& found) -> Status {
        const rpc::CallContext& call = responder.context();
        Status allowed = env.judge->Check(CallerOf(call), OwnerOrAdmin(found.owner()), call.method);
        if (allowed.ok() || RATCHET_MUTANT("snapshot.any_user_asks")) return Ok();
        return allowed;
      },
      std::move(then));
}

}  // namespace ratchet::master
