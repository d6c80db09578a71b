#include "regionserver/region/shared_table.h"

#include <algorithm>
#include <utility>

#include "common/model/replication_peer.h"

namespace ratchet::regionserver {
namespace {

std::map<std::string, FamilyRules, std::less<>> RulesOfAll(const TableDescriptor& table) {
  std::map<std::string, FamilyRules, std::less<>> rules;
  for (const FamilyDescriptor& family : table.families) rules.emplace(family.name, RulesOf(family));
  return rules;
}

std::set<std::string, std::less<>> ShippedFamilies(const TableDescriptor& table) {
  std::set<std::string, std::less<>> shipped;
  if (table.name.IsSystem()) return shipped;
  for (const FamilyDescriptor& family : table.families) {
    const auto scope = family.attributes.find(kReplicationScopeAttribute);
    if (scope != family.attributes.end() && scope->second != "0") shipped.insert(family.name);
  }
  return shipped;
}

}  // namespace

SharedTable::Content::Content(TableDescriptor table)
    : descriptor(std::move(table)), families(RulesOfAll(descriptor)), shipped_families(ShippedFamilies(descriptor)) {}

SharedTable SharedTables::Share(TableDescriptor table) {
  MutexLock lock(mutex_);
  std::weak_ptr<const SharedTable::Content>& newest = newest_[table.name.ToString()];
  if (auto there = newest.lock(); there != nullptr && there->descriptor == table) return SharedTable(std::move(there));
  SharedTable shared(std::move(table));
  newest = shared.content();
  if (newest_.size() >= clean_at_) {
    std::erase_if(newest_, [](const auto& each) { return each.second.expired(); });
    clean_at_ = std::max(kLeastToClean, 2 * newest_.size());
  }
  return shared;
}

std::size_t SharedTables::size() const {
  MutexLock lock(mutex_);
  return newest_.size();
}

}  // namespace ratchet::regionserver
