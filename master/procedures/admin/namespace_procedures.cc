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

procedure::LockSet WholeNamespace(const pb::NamespaceData& data) {
  return {procedure::Exclusive(procedure::ResourceKey::Namespace(data.name()))};
}

pb::NamespaceData NamespaceDataOf(const NamespaceDescriptor& descriptor) {
  pb::NamespaceData data;
  data.set_name(descriptor.name);
  data.set_description(EncodeNamespace(descriptor));
  return data;
}

Status CheckNamespaceData(const pb::NamespaceData& data) {
  const auto descriptor = DecodeNamespace(data.description());
  if (!descriptor.ok()) return IllegalRequest(descriptor.error().message());
  if (Status name = CheckNamespaceName(data.name()); !name.ok()) return IllegalRequest(name.error().message());
  if (descriptor->name != data.name()) return IllegalRequest("the descriptor belongs to another namespace");
  const Status sound = descriptor->Check();
  return sound.ok() ? Ok() : Status(Constraint(sound.error().message()));
}

std::string NamespaceText(const pb::NamespaceData& data) {
  const auto descriptor = DecodeNamespace(data.description());
  return fmt::format("namespace={}, properties={}", data.name(), descriptor.ok() ? descriptor->properties.size() : 0);
}

void ShowRecord(StepContext& ctx, const pb::NamespaceData& data) {
  const auto record = EnvOf(ctx).executor->SystemRecord(NamespaceRecordKey(data));
  if (record) EnvOf(ctx).namespaces.Show(data.name(), *record);
}

Status RoomForAnother(const MasterEnv& env) {
  if (env.namespaces.size() < NamespaceDirectory::kMostNamespaces) return Ok();
  return IllegalRequest(
      fmt::format("limit of {} namespaces reached: delete an empty one first", env.namespaces.size()));
}

}  // namespace

ProcedurePtr CreateNamespace::Make(const NamespaceDescriptor& descriptor) {
  return std::make_unique<CreateNamespace>(NamespaceDataOf(descriptor));
}

procedure::LockSet CreateNamespace::Locks() const { return WholeNamespace(data_); }
Status CreateNamespace::CheckInitial() const { return CheckNamespaceData(data_); }
std::string CreateNamespace::Describe() const { return NamespaceText(data_); }

StepOutcome CreateNamespace::Prepare(StepContext& ctx) {
  if (EnvOf(ctx).namespaces.Exists(data_.name())) return Fail{NamespaceExistsAlready(data_.name())};
  if (Status room = RoomForAnother(EnvOf(ctx)); !room.ok()) return Fail{room.error()};
  return GoTo<&CreateNamespace::Insert>();
}

StepOutcome CreateNamespace::Insert(StepContext& ctx) {
  ctx.PutSystemRecord(NamespaceRecordKey(data_), data_.description());
  return GoTo<&CreateNamespace::SetQuota>();
}

StepOutcome CreateNamespace::SetQuota(StepContext& ctx) {
  ShowRecord(ctx, data_);
  RATCHET_LOG(kInfo, "pid={} namespace {} created", ctx.pid(), data_.name());
  return Done{};
}

ProcedurePtr ModifyNamespace::Make(const NamespaceDescriptor& descriptor) {
  return std::make_unique<ModifyNamespace>(NamespaceDataOf(descriptor));
}

procedure::LockSet ModifyNamespace::Locks() const {
  return {procedure::Exclusive(procedure::ResourceKey::Table(data_.name() + ":"))};
}
Status ModifyNamespace::CheckInitial() const { return CheckNamespaceData(data_); }
std::string ModifyNamespace::Describe() const { return NamespaceText(data_); }

StepOutcome ModifyNamespace::Prepare(StepContext& ctx) {
  const MasterEnv& env = EnvOf(ctx);
  if (!env.namespaces.Exists(data_.name())) return Fail{NamespaceNotFound(data_.name())};
  // A namespace without a record (a default one, or one that only its tables name) gets its record now.
  const bool on_record = env.executor->SystemRecord(NamespaceRecordKey(data_)).has_value();
  if (Status room = RoomForAnother(env); !on_record && !room.ok()) return Fail{room.error()};
  return GoTo<&ModifyNamespace::Update>();
}

StepOutcome ModifyNamespace::Update(StepContext& ctx) {
  ctx.PutSystemRecord(NamespaceRecordKey(data_), data_.description());
  return GoTo<&ModifyNamespace::SetQuota>();
}

StepOutcome ModifyNamespace::SetQuota(StepContext& ctx) {
  ShowRecord(ctx, data_);
  RATCHET_LOG(kInfo, "pid={} namespace {} updated", ctx.pid(), data_.name());
  return Done{};
}

ProcedurePtr DeleteNamespace::Make(const std::string& name) {
  pb::NamespaceData data;
  data.set_name(name);
  return std::make_unique<DeleteNamespace>(std::move(data));
}

procedure::LockSet DeleteNamespace::Locks() const { return WholeNamespace(data_); }

Status DeleteNamespace::CheckInitial() const {
  const Status name = CheckNamespaceName(data_.name());
  return name.ok() ? Ok() : Status(IllegalRequest(name.error().message()));
}

std::string DeleteNamespace::Describe() const { return "namespace=" + data_.name(); }

Status DeleteNamespace::Check(const MasterEnv& env, const std::string& name) {
  if (IsReservedNamespace(name)) return Constraint(fmt::format("namespace {} cannot be deleted", name));
  if (!env.namespaces.Exists(name)) return NamespaceNotFound(name);
  const std::size_t tables = env.namespaces.TablesIn(name);
  if (tables == 0) return Ok();
  return Constraint(
      fmt::format("namespace {} has {} tables: only an empty one can be deleted, drop them first", name, tables));
}

StepOutcome DeleteNamespace::Prepare(StepContext& ctx) {
  if (Status may = Check(EnvOf(ctx), data_.name()); !may.ok()) return Fail{may.error()};
  return GoTo<&DeleteNamespace::Delete>();
}

StepOutcome DeleteNamespace::Delete(StepContext& ctx) {
  ctx.DeleteSystemRecord(NamespaceRecordKey(data_));
  return GoTo<&DeleteNamespace::RemoveQuota>();
}

StepOutcome DeleteNamespace::RemoveQuota(StepContext& ctx) {
  EnvOf(ctx).namespaces.Remove(data_.name());
  RATCHET_LOG(kInfo, "pid={} namespace {} deleted", ctx.pid(), data_.name());
  return Done{};
}

}  // namespace ratchet::master
