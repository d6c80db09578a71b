#include "regionserver/region/shared_table.h"

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

}  // namespace ratchet::regionserver
