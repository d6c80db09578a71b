// Finds the tables and owners that requests to the master name, for the check of rights before a handler
// (common/rights/need.h). Handlers of lists ask here which entries a user may see.
#pragma once

#include <string_view>

#include "common/rights/judge.h"
#include "common/rpc/call.h"
#include "common/rpc/service.h"
#include "master/rpc/master_services.h"

namespace ratchet::master {

// A change of a table needs one of these actions on it.
inline constexpr rights::Actions kAdminOrCreate = rights::Action::kAdmin | rights::Action::kCreate;

// Register the functions that find the targets, for all methods of a service whose need has one.
void AddMasterTargets(rpc::Service& service, ServiceEnv& env);
void AddLockTargets(rpc::Service& service, ServiceEnv& env);
void AddRatchetTargets(rpc::Service& service, ServiceEnv& env);

[[nodiscard]] inline rights::Caller CallerOf(const rpc::CallContext& call) { return {call.user, call.member}; }
// True if the caller may see an object with this demand in a list.
[[nodiscard]] inline bool Sees(const ServiceEnv& env, const rpc::CallContext& call, const rights::Demand& demand) {
  return env.judge == nullptr || env.judge->Sees(CallerOf(call), demand);
}
// True if the caller holds some right in the table.
[[nodiscard]] bool SeesTable(const ServiceEnv& env, const rpc::CallContext& call, const TableName& table);
// True if the caller may see the table's descriptor.
[[nodiscard]] bool SeesDescriptor(const ServiceEnv& env, const rpc::CallContext& call, const TableName& table);
// True if the caller may see everything, so that no entry of a list needs a check.
[[nodiscard]] bool SeesAll(const ServiceEnv& env, const rpc::CallContext& call);

}  // namespace ratchet::master
