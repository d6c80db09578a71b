#include "regionserver/rpc/data_rights.h"

#include <set>
#include <utility>

#include "common/base/mutant.h"
#include "common/rights/nonce_group.h"

namespace ratchet::regionserver {
namespace {

using rights::Action;
using rights::Actions;
using rights::Demand;
using rights::Scope;

Demand ReadOf(const TableName& table) { return Demand::Of(Scope::Table(table), Action::kRead); }

bool DeletesFamily(const Cell& cell) {
  return cell.type == CellType::kDeleteFamily || cell.type == CellType::kDeleteFamilyVersion;
}

ColumnSelection AllFamilies(const Region& region) {
  ColumnSelection all;
  for (const FamilyDescriptor& family : region.table().families) all.try_emplace(family.name);
  return all;
}

}  // namespace

DataRights::Basis DataRights::basis() const {
  if (judge_ == nullptr) return {};
  const auto image = judge_->image();
  return {image == nullptr ? rights::ImageNumber() : image->number(), judge_->changes()};
}

Result<DataRights::Read> DataRights::Narrow(const rpc::CallContext& call, const Region& region, ReadSpec& spec) const {
  const TableName& table = region.info().table;
  if (!Judges(call) || table.IsMeta()) return Read::kWhole;
  const rights::Caller caller{call.user};
  if (judge_->IsAbove(caller)) return Read::kWhole;
  if (table.IsSystem()) {
    const Actions any_of = table == rights::AclTableName() ? Actions(Action::kAdmin) : Action::kRead | Action::kAdmin;
    RATCHET_TRY(judge_->Check(caller, Demand::Of(Scope::Global(), any_of), call.method));
    return Read::kWhole;
  }
  const auto image = judge_->image();
  if (image == nullptr || caller.user.empty()) {
    RATCHET_TRY(judge_->Check(caller, ReadOf(table), call.method));
    return Read::kWhole;
  }
  const rights::Subject subject = judge_->SubjectOf(caller.user);
  if (image->Held(subject, Scope::Table(table)).HasAny(Action::kRead)) return Read::kWhole;
  bool whole = true;
  ColumnSelection narrowed;
  for (auto& [family, qualifiers] : spec.columns.empty() ? AllFamilies(region) : spec.columns) {
    if (image->Held(subject, Scope::Family(table, family)).HasAny(Action::kRead)) {
      narrowed[family] = qualifiers;
      continue;
    }
    const std::set<std::string> columns = image->ColumnsWith(subject, Action::kRead, table, family);
    std::vector<std::string> seen;
    for (const std::string& column : qualifiers) {
      if (columns.contains(column)) seen.push_back(column);
    }
    if (qualifiers.empty() && !spec.raw) seen.assign(columns.begin(), columns.end());  // raw: whole families only
    if (qualifiers.empty() || seen.size() < qualifiers.size()) whole = false;
    if (!seen.empty()) narrowed[family] = std::move(seen);
  }
  if (whole) return Read::kWhole;
  if (narrowed.empty()) {
    RATCHET_TRY(judge_->Apply(rights::AccessDenied(caller.user, ReadOf(table)), call.method));
    return Read::kWhole;
  }
  if (!judge_->enforces() || RATCHET_MUTANT("rights.hidden_columns")) return Read::kWhole;
  spec.columns = std::move(narrowed);
  return Read::kNarrowed;
}

bool DataRights::ReadsWhole(const rpc::CallContext& call, const Region& region) const {
  if (!Judges(call) || RATCHET_MUTANT("rights.get_at_once_anyway")) return true;
  const TableName& table = region.info().table;
  return !table.IsSystem() && judge_->Verdict({call.user}, ReadOf(table)).ok();
}

Status DataRights::CheckMutation(const rights::Caller& caller, const rpc::CallContext& call, const Region& region,
                                 const Mutation& mutation) const {
  const TableName& table = region.info().table;
  if (!mutation.cluster_ids.empty()) {  // they decide where the mutation is shipped
    RATCHET_TRY(judge_->Check(caller, Demand::Of(Scope::Global(), Action::kWrite), call.method));
  }
  std::set<Scope> scopes;
  if (mutation.cells.empty()) {
    for (const FamilyDescriptor& family : region.table().families) scopes.insert(Scope::Family(table, family.name));
  }
  for (const Cell& cell : mutation.cells) {
    const bool whole = DeletesFamily(cell) || scopes.contains(Scope::Family(table, cell.family)) ||
                       judge_->Verdict(caller, Demand::Of(Scope::Family(table, cell.family), Action::kWrite)).ok();
    scopes.insert(whole ? Scope::Family(table, cell.family) : Scope::Column(table, cell.family, cell.qualifier));
  }
  for (const Scope& scope : scopes) RATCHET_TRY(judge_->Check(caller, Demand::Of(scope, Action::kWrite), call.method));
  return Ok();
}

Status DataRights::CheckCondition(const rights::Caller& caller, const rpc::CallContext& call, const Region& region,
                                  const Condition& condition, bool writes) const {
  const TableName& table = region.info().table;
  std::vector<Scope> scopes;
  if (condition.filter == nullptr) {
    scopes.push_back(Scope::Column(table, condition.family, condition.qualifier));
  } else if (!condition.family.empty()) {
    scopes.push_back(condition.qualifier.empty() ? Scope::Family(table, condition.family)
                                                 : Scope::Column(table, condition.family, condition.qualifier));
  } else {
    for (const FamilyDescriptor& family : region.table().families) scopes.push_back(Scope::Family(table, family.name));
  }
  for (const Scope& scope : scopes) {
    RATCHET_TRY(judge_->Check(caller, Demand::Of(scope, Action::kRead), call.method));
    if (writes && condition.filter == nullptr)
      RATCHET_TRY(judge_->Check(caller, Demand::Of(scope, Action::kWrite), call.method));
  }
  return Ok();
}

Status DataRights::CheckWrite(const rpc::CallContext& call, const Region& region, const AtomicMutation& unit) const {
  const TableName& table = region.info().table;
  if (!Judges(call) || table.IsMeta()) return Ok();  // GuardWrite refuses clients' writes to meta
  const rights::Caller caller{call.user};
  if (table == rights::AclTableName())
    return judge_->Apply(rights::AccessDenied(call.user, Demand::Superuser()), call.method);
  if (judge_->IsAbove(caller)) return Ok();
  if (table.IsSystem()) return judge_->Check(caller, Demand::Superuser(), call.method);
  for (const Mutation& mutation : unit.mutations) RATCHET_TRY(CheckMutation(caller, call, region, mutation));
  if (unit.condition.has_value()) RATCHET_TRY(CheckCondition(caller, call, region, *unit.condition, true));
  for (const Condition& condition : unit.conditions)
    RATCHET_TRY(CheckCondition(caller, call, region, condition, false));
  return Ok();
}

std::uint64_t DataRights::NonceGroup(const rpc::CallContext& call, std::uint64_t group) const {
  if (!enforces() || call.member || call.user.empty()) return group;
  return rights::NonceGroupOf(call.user, group);
}

}  // namespace ratchet::regionserver
