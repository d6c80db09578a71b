#include "master/procedures/rights/rights_steps.h"

#include <algorithm>
#include <map>

#include "common/base/mutant.h"
#include "master/cluster/rights_book.h"
#include "master/cluster/table_directory.h"
#include "master/procedures/core/common.h"
#include "master/procedures/rights/snapshot_rights.h"
#include "procedure/api/executor.h"

namespace ratchet::master {
namespace {

rights::RightsEntry OwnersRights(const pb::TableData& data) {
  return {data.owner(), rights::Scope::Table(TableOf(data)), rights::Actions::All()};
}

std::string OwnersKey(const pb::TableData& data) {
  return data.has_owner() ? RightsRecordKey(data.owner(), rights::Scope::Table(TableOf(data))) : "";
}

// The records of the restored rights, without the one that the owner has as the owner.
std::map<std::string, std::string> RestoredRecords(const pb::TableData& data) {
  std::map<std::string, std::string> records;
  for (const rights::RightsEntry& entry : RestoredRights(data))
    records[RightsRecordKey(entry.user, entry.scope)] = RightsRecord(entry);
  records.erase(OwnersKey(data));
  return records;
}

bool Delete(StepContext& ctx, const std::vector<std::string>& keys) {
  if (keys.empty() || RATCHET_MUTANT("master.rights_stay")) return false;
  for (const std::string& key : keys) ctx.DeleteSystemRecord(key);
  return true;
}

void Show(StepContext& ctx, const std::string& key) {
  EnvOf(ctx).rights.Show(key, EnvOf(ctx).executor->SystemRecord(key));
}

}  // namespace

bool TakeRightsAway(StepContext& ctx, const rights::Scope& scope) {
  return Delete(ctx, EnvOf(ctx).rights.KeysWithin(scope));
}

bool TakeRightsOfDroppedFamilies(StepContext& ctx, const TableDescriptor& schema) {
  std::vector<std::string> gone;
  for (std::string& key : EnvOf(ctx).rights.KeysWithin(rights::Scope::Table(schema.name))) {
    const RightsKey read = ReadRightsKey(key);
    if (read.scope.level < rights::Scope::Level::kFamily) continue;
    const bool is_there = std::any_of(schema.families.begin(), schema.families.end(),
                                      [&](const FamilyDescriptor& each) { return each.name == read.scope.family; });
    if (!is_there) gone.push_back(std::move(key));
  }
  return Delete(ctx, gone);
}

void StageOwnersRights(StepContext& ctx, const pb::TableData& data) {
  const std::string own = OwnersKey(data);
  const auto restored = RestoredRecords(data);
  // Old rights of this name can only be here after an operator has ended the procedure that was to take them.
  std::vector<std::string> old = EnvOf(ctx).rights.KeysWithin(rights::Scope::Table(TableOf(data)));
  std::erase_if(old, [&](const std::string& key) { return key == own || restored.contains(key); });
  static_cast<void>(Delete(ctx, old));
  for (const auto& [key, record] : restored) ctx.PutSystemRecord(key, record);
  if (data.has_owner()) ctx.PutSystemRecord(own, RightsRecord(OwnersRights(data)));
}

void UnstageOwnersRights(StepContext& ctx, const pb::TableData& data) {
  std::vector<std::string> keys;
  for (const auto& [key, record] : RestoredRecords(data)) keys.push_back(key);
  if (data.has_owner()) keys.push_back(OwnersKey(data));
  for (const std::string& key : keys) {
    ctx.DeleteSystemRecord(key);
    // A master that was activated after the commit has loaded the record. A right that goes early harms nothing.
    EnvOf(ctx).rights.Show(key, std::nullopt);
  }
}

bool StageRestoredRights(StepContext& ctx, const pb::TableData& data) {
  const auto restored = RestoredRecords(data);
  for (const auto& [key, record] : restored) ctx.PutSystemRecord(key, record);
  return !restored.empty();
}

void ShowRestoredRights(StepContext& ctx, const pb::TableData& data) {
  for (const auto& [key, record] : RestoredRecords(data)) Show(ctx, key);
}

void ShowRightsWithin(StepContext& ctx, const rights::Scope& scope) {
  for (const std::string& key : EnvOf(ctx).rights.KeysWithin(scope)) Show(ctx, key);
}

bool ShowOwnersRights(StepContext& ctx, const pb::TableData& data) {
  const rights::Scope scope = rights::Scope::Table(TableOf(data));
  const bool had_old = !EnvOf(ctx).rights.KeysWithin(scope).empty();
  if (!data.has_owner() && !had_old && data.restored_rights_size() == 0) return false;
  ShowRightsWithin(ctx, scope);
  ShowRestoredRights(ctx, data);
  if (data.has_owner()) Show(ctx, OwnersKey(data));
  return true;
}

Status CheckOwner(const MasterEnv& env, const pb::TableData& data) {
  if (!data.has_owner()) return Ok();
  RATCHET_TRY(rights::CheckGrantee(data.owner()));
  if (data.owner().front() == rights::kGroupMark)
    return Error(Code::kInvalidArgument, "the owner of a table is a user; '@' begins the name of a group");
  return env.rights.RoomFor(OwnersRights(data), /*owner=*/true);
}

}  // namespace ratchet::master
