#include "master/rpc/pause_target.h"

#include <algorithm>

#include <fmt/core.h>

#include "common/rpc/exceptions.h"
#include "master/cluster/errors.h"
#include "master/cluster/namespace_directory.h"
#include "master/procedures/register.h"
#include "master/startup/master_logic.h"
#include "procedure/api/lock_procedure.h"
#include "procedure/api/procedure_registry.h"

namespace ratchet::master {
namespace {

using procedure::ResourceKind;

Error Unknown(const std::string& what) { return rpc::RemoteError(rpc::exception::kUnknownProcedure, what); }

Status CheckType(const std::string& type) {
  static const procedure::ProcedureRegistry* const kKnown = [] {
    auto* registry = new procedure::ProcedureRegistry;
    RegisterMasterProcedures(*registry);
    registry->Register<procedure::LockProcedure>();
    return registry;
  }();
  if (kKnown->Find(type) != nullptr) return Ok();
  std::string names;
  for (const auto* known : kKnown->Types()) names += (names.empty() ? "" : ", ") + known->name;
  return Unknown(fmt::format("unknown procedure type '{}'; known types: {}", type, names));
}

Status CheckResource(MasterLogic& logic, const procedure::ResourceKey& key) {
  switch (key.kind) {
    case ResourceKind::kTable: {
      const auto table = TableName::Parse(key.name);
      if (!table.ok()) return Unknown(table.error().message());
      if (!logic.tables.Exists(*table)) return TableNotFound(*table);
      return Ok();
    }
    case ResourceKind::kNamespace:
      return logic.env.namespaces.Exists(key.name) ? Ok() : Status(NamespaceNotFound(key.name));
    case ResourceKind::kRegion: {
      const auto slash = key.name.rfind('/');
      const auto region = logic.regions.Get(slash == std::string::npos ? key.name : key.name.substr(slash + 1));
      if (!region.has_value()) return UnknownRegion(key.name);
      if (slash == std::string::npos || region->info.table.ToString() != key.name.substr(0, slash)) {
        return Unknown(
            fmt::format("region {} belongs to table {}", region->info.encoded_name(), region->info.table.ToString()));
      }
      return Ok();
    }
    case ResourceKind::kServer: {
      const auto servers = logic.servers.List();
      const auto is_it = [&](const auto& server) { return server.name.ToString() == key.name; };
      if (std::any_of(servers.begin(), servers.end(), is_it)) return Ok();
      return Unknown(fmt::format("unknown server {} (format: host,port,startcode; see 'ratchet servers')", key.name));
    }
    case ResourceKind::kCluster:
    case ResourceKind::kPeer:
    case ResourceKind::kMeta: return Ok();
  }
  return Ok();
}

}  // namespace

Status CheckPauseTarget(const ActiveParts& parts, const procedure::PauseScope& scope) {
  if (scope.kind == procedure::PauseScope::Kind::kType) return CheckType(scope.type);
  if (scope.kind != procedure::PauseScope::Kind::kResource || parts.logic == nullptr || !parts.logic->ready())
    return Ok();
  return CheckResource(*parts.logic, scope.resource);
}

}  // namespace ratchet::master
