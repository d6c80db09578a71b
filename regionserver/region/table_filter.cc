#include "regionserver/region/table_filter.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace ratchet::regionserver {
namespace {

bool HasFilter(const FamilyDescriptor& family) {
  const std::string* const text = FindSetting(family.attributes, family.configuration, "BLOOMFILTER");
  if (text == nullptr) return true;
  std::string upper(*text);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return upper != "NONE";
}

}  // namespace

FileFilter FilterFor(const TableDescriptor& table) {
  return std::any_of(table.families.begin(), table.families.end(), HasFilter) ? FileFilter::kRow : FileFilter::kNone;
}

}  // namespace ratchet::regionserver
