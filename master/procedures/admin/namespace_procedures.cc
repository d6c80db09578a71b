#include "master/procedures/admin/namespace_procedures.h"

#include <fmt/format.h>

#include "common/base/log.h"
#include "master/cluster/errors.h"
#include "master/cluster/namespace_directory.h"
#include "procedure/api/executor.h"

namespace ratchet::master {
namespace {

std::string NamespaceRecordKey(const pb::NamespaceData& data) {
  return std::string(kNamespaceRecordPrefix) + data.name();
}

Status RoomForAnother(const MasterEnv& env) {
  if (env.namespaces.size() < NamespaceDirectory::kMostNamespaces) return Ok();
  return IllegalRequest(
      fmt::format("limit of {} namespaces reached: delete an empty one first", env.namespaces.size()));
}

Status CheckDeletion(const MasterEnv& env, const std::string& name) {
  if (IsReservedNamespace(name)) return Constraint(fmt::format("namespace {} cannot be deleted", name));
  if (!env.namespaces.Exists(name)) return NamespaceNotFound(name);
  const std::size_t tables = env.namespaces.TablesIn(name);
  if (tables == 0) return Ok();
  return Constraint(
      fmt::format("namespace {} has {} tables: only an empty one can be deleted, drop them first", name, tables));
}

}  // namespace

pb::NamespaceData NamespaceDataOf(const NamespaceDescriptor& descriptor) {
  pb::NamespaceData data;
  data.set_name(descriptor.name);
  data.set_description(EncodeNamespace(descriptor));
  return data;
}

Status CheckNamespaceData(NamespaceChange change, const pb::NamespaceData& data) {
  const Status name = CheckNamespaceName(data.name());
  if (change == NamespaceChange::kDelete) return name.ok() ? Ok() : Status(IllegalRequest(name.error().message()));
  const auto descriptor = DecodeNamespace(data.description());
  if (!descriptor.ok()) return IllegalRequest(descriptor.error().message());
  if (!name.ok()) return IllegalRequest(name.error().message());
  if (descriptor->name != data.name()) return IllegalRequest("the descriptor belongs to another namespace");
  const Status sound = descriptor->Check();
  return sound.ok() ? Ok() : Status(Constraint(sound.error().message()));
}

Status CheckNamespaceChange(const MasterEnv& env, NamespaceChange change, const std::string& name) {
  switch (change) {
    case NamespaceChange::kCreate:
      return env.namespaces.Exists(name) ? Status(NamespaceExistsAlready(name)) : RoomForAnother(env);
    case NamespaceChange::kModify: {
      if (!env.namespaces.Exists(name)) return NamespaceNotFound(name);
      // A namespace without a record (a default one, or one that only its tables name) gets its record now.
      const std::string key = std::string(kNamespaceRecordPrefix) + name;
      return env.executor->SystemRecord(key).has_value() ? Ok() : RoomForAnother(env);
    }
    case NamespaceChange::kDelete: break;
  }
  return CheckDeletion(env, name);
}

procedure::LockSet NamespaceLock(NamespaceChange change, const std::string& name) {
  using procedure::ResourceKey;
  return {
      Exclusive(change == NamespaceChange::kModify ? ResourceKey::Table(name + ":") : ResourceKey::Namespace(name))};
}

procedure::Description DescribeNamespace(NamespaceChange change, const pb::NamespaceData& data) {
  procedure::Description about;
  about.Add("namespace", data.name());
  if (change == NamespaceChange::kDelete) return about;
  const auto descriptor = DecodeNamespace(data.description());
  return about.Add("properties", descriptor.ok() ? descriptor->properties.size() : 0);
}

void WriteNamespaceRecord(StepContext& ctx, NamespaceChange change, const pb::NamespaceData& data) {
  if (change == NamespaceChange::kDelete) return ctx.DeleteSystemRecord(NamespaceRecordKey(data));
  ctx.PutSystemRecord(NamespaceRecordKey(data), data.description());
}

void ShowNamespace(StepContext& ctx, NamespaceChange change, const pb::NamespaceData& data) {
  MasterEnv& env = EnvOf(ctx);
  if (change == NamespaceChange::kDelete) {
    env.namespaces.Remove(data.name());
  } else if (const auto record = env.executor->SystemRecord(NamespaceRecordKey(data))) {
    env.namespaces.Show(data.name(), *record);
  }
  const char* done = change == NamespaceChange::kCreate   ? "created"
                     : change == NamespaceChange::kModify ? "updated"
                                                          : "deleted";
  RATCHET_LOG(kInfo, "pid={} namespace {} {}", ctx.pid(), data.name(), done);
}

ProcedurePtr CreateNamespace::Make(const NamespaceDescriptor& descriptor) {
  return std::make_unique<CreateNamespace>(NamespaceDataOf(descriptor));
}

ProcedurePtr ModifyNamespace::Make(const NamespaceDescriptor& descriptor) {
  return std::make_unique<ModifyNamespace>(NamespaceDataOf(descriptor));
}

ProcedurePtr DeleteNamespace::Make(const std::string& name) {
  pb::NamespaceData data;
  data.set_name(name);
  return std::make_unique<DeleteNamespace>(std::move(data));
}

}  // namespace ratchet::master
