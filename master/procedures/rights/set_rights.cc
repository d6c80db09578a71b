#include "master/procedures/rights/set_rights.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/base/printable.h"
#include "master/cluster/errors.h"
#include "master/cluster/namespace_directory.h"
#include "master/cluster/rights_book.h"
#include "master/cluster/table_directory.h"
#include "master/procedures/core/schema_reader.h"
#include "procedure/api/executor.h"

namespace ratchet::master {
namespace {

using Level = rights::Scope::Level;
constexpr std::size_t kMostColumnBytes = 4096;  // of a family's and a qualifier's name together

Status CheckFamily(const MasterEnv& env, const rights::Scope& scope) {
  const auto table = env.tables.Get(scope.table);
  if (!table || table->schema == nullptr) return TableNotFound(scope.table);
  const auto& families = table->schema->families;
  const bool is_there = std::any_of(families.begin(), families.end(),
                                    [&](const FamilyDescriptor& each) { return each.name == scope.family; });
  if (is_there) return Ok();
  return NoSuchFamily(scope.table, PrintableText(scope.family));
}

// A right for a name that does not exist would be there when another user makes the name.
Status CheckIsThere(const MasterEnv& env, const rights::Scope& scope) {
  if (scope.level == Level::kGlobal) return Ok();
  if (scope.level == Level::kNamespace)
    return env.namespaces.Exists(scope.table.ns) ? Ok() : Status(NamespaceNotFound(scope.table.ns));
  if (!env.tables.Exists(scope.table)) return TableNotFound(scope.table);
  return scope.level == Level::kTable ? Ok() : CheckFamily(env, scope);
}

}  // namespace

std::string ScopeText(const rights::Scope& scope) {
  switch (scope.level) {
    case Level::kGlobal: return "everything";
    case Level::kNamespace: return "namespace " + scope.table.ns;
    case Level::kTable: return "table " + scope.table.ToString();
    case Level::kFamily: return fmt::format("table {}, family {}", scope.table.ToString(), PrintableText(scope.family));
    case Level::kColumn: break;
  }
  return fmt::format("table {}, column {}:{}", scope.table.ToString(), PrintableText(scope.family),
                     PrintableText(scope.qualifier));
}

Status CheckRights(const rights::RightsEntry& entry, pb::SetRightsData::Change change) {
  const Status named = rights::CheckGrantee(entry.user);
  if (!named.ok()) return IllegalRequest(named.error().message());
  if (entry.scope.level >= Level::kTable) {
    const Status legal = entry.scope.table.Check();
    if (!legal.ok()) return IllegalRequest(legal.error().message());
  }
  if (entry.scope.family.size() + entry.scope.qualifier.size() > kMostColumnBytes)
    return IllegalRequest(
        fmt::format("the names of family and column have more than {} bytes together", kMostColumnBytes));
  if (change != pb::SetRightsData::TAKE && entry.actions.empty())
    return IllegalRequest("no action is given: some of R, W, X, C and A are expected");
  return Ok();
}

ProcedurePtr SetRights::Make(const rights::RightsEntry& entry, pb::SetRightsData::Change change,
                             const std::string& directory) {
  pb::SetRightsData data;
  data.set_entry(rights::ToProto(entry).SerializeAsString());
  data.set_change(change);
  if (!directory.empty()) data.set_directory(directory);
  return std::make_unique<SetRights>(std::move(data));
}

Result<rights::RightsEntry> SetRights::Entry() const {
  ratchet::pb::RightsEntry proto;
  if (!proto.ParseFromString(data_.entry()) || !rights::Actions::IsValid(proto.actions()))
    return Error(Code::kInvalidArgument, "the right cannot be read");
  RATCHET_ASSIGN(rights::Scope scope, rights::ScopeFromProto(proto));
  return rights::RightsEntry{proto.user(), std::move(scope), rights::Actions::FromBits(proto.actions())};
}

// An exception parks the procedure (S79: invalid record is parked).
rights::RightsEntry SetRights::Stored() const {
  auto entry = Entry();
  if (!entry.ok()) throw std::invalid_argument(entry.error().message());
  return *std::move(entry);
}

procedure::LockSet SetRights::Locks() const {
  using procedure::ResourceKey;
  const auto entry = Entry();
  const rights::Scope scope = entry.ok() ? entry->scope : rights::Scope::Global();
  // As of a region, so that it is taken last: a change that waits for its table blocks no other one.
  const std::string name = scope.level >= Level::kTable ? scope.table.ToString() : "@" + scope.table.ns;
  procedure::LockSet locks{procedure::Exclusive(ResourceKey::Region(std::string(kSystemNamespace) + ":rights", name))};
  if (scope.level == Level::kGlobal) return locks;
  locks.Add(procedure::Shared(scope.level == Level::kNamespace ? ResourceKey::Namespace(scope.table.ns)
                                                               : TableKey(scope.table)));
  return locks;
}

Status SetRights::CheckInitial() const {
  const auto entry = Entry();
  if (!entry.ok()) return IllegalRequest(entry.error().message());
  return CheckRights(*entry, data_.change());
}

procedure::Description SetRights::Describe() const {
  procedure::Description about;
  const auto entry = Entry();
  if (!entry.ok()) return about;
  about.Add("user", entry->user);
  if (entry->scope.level == Level::kNamespace) about.Add("namespace", entry->scope.table.ns);
  if (entry->scope.level >= Level::kTable) about.Add("table", entry->scope.table.ToString());
  const std::string letters = entry->actions.Letters();
  const char* verb = data_.change() == pb::SetRightsData::ADD       ? "add"
                     : data_.change() == pb::SetRightsData::REPLACE ? "replace by"
                                                                    : "take";
  return about.Note(fmt::format("{} {}", verb, letters.empty() ? "all" : letters));
}

rights::Actions SetRights::After(const MasterEnv& env, const rights::RightsEntry& entry) const {
  const rights::Actions before = env.rights.Get(entry.user, entry.scope);
  switch (data_.change()) {
    case pb::SetRightsData::ADD: return before | entry.actions;
    case pb::SetRightsData::REPLACE: return entry.actions;
    case pb::SetRightsData::TAKE: break;
  }
  return entry.actions.empty() ? rights::Actions() : before.Without(entry.actions);
}

StepOutcome SetRights::Pre(StepContext& ctx) {
  const MasterEnv& env = EnvOf(ctx);
  const auto entry = Entry();
  if (!entry.ok()) return Fail{IllegalRequest(entry.error().message())};
  if (data_.change() == pb::SetRightsData::TAKE) return GoTo<&SetRights::UpdateStorage>();
  if (entry->scope.level >= Level::kTable) RATCHET_STEP(RequireMetaLoaded(ctx));
  if (Status there = CheckIsThere(env, entry->scope); !there.ok()) return Fail{there.error()};
  // Who might give rights in a table need not be allowed to in the table that has its name now, S136 (a name made again
  // has no old right).
  const auto table = env.tables.Get(entry->scope.table);
  if (data_.has_directory() && (!table.has_value() || table->directory != data_.directory()))
    return Fail{TableNotFound(entry->scope.table)};
  const rights::RightsEntry after{entry->user, entry->scope, After(env, *entry)};
  if (Status room = env.rights.RoomFor(after, /*owner=*/false); !room.ok())
    return Fail{IllegalRequest(room.error().message())};
  return GoTo<&SetRights::UpdateStorage>();
}

StepOutcome SetRights::UpdateStorage(StepContext& ctx) {
  const rights::RightsEntry entry = Stored();
  const rights::RightsEntry after{entry.user, entry.scope, After(EnvOf(ctx), entry)};
  const std::string key = RightsRecordKey(entry.user, entry.scope);
  if (after.actions.empty()) {
    ctx.DeleteSystemRecord(key);
  } else {
    ctx.PutSystemRecord(key, RightsRecord(after));
  }
  return GoTo<&SetRights::Tell>();
}

StepOutcome SetRights::Tell(StepContext& ctx) {
  const rights::RightsEntry entry = Stored();
  const std::string key = RightsRecordKey(entry.user, entry.scope);
  EnvOf(ctx).rights.Show(key, EnvOf(ctx).executor->SystemRecord(key));
  std::vector<ProcedurePtr> orders = TellRights(ctx);
  data_.set_told(static_cast<std::uint32_t>(orders.size()));
  if (orders.empty() || RATCHET_MUTANT("master.answer_before_servers")) return GoTo<&SetRights::Post>();
  return SpawnThen<&SetRights::Post>(std::move(orders));
}

StepOutcome SetRights::Post(StepContext& ctx) {
  const rights::RightsEntry entry = Stored();
  const std::string now = EnvOf(ctx).rights.Get(entry.user, entry.scope).Letters();
  RATCHET_LOG(kInfo, "pid={} rights of {} for {}: {}, sent to {} region servers", ctx.pid(), entry.user,
              ScopeText(entry.scope), now.empty() ? "none" : now, data_.told());
  return Done{};
}

}  // namespace ratchet::master
