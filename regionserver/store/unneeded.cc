#include "regionserver/store/unneeded.h"

#include <algorithm>

#include "common/base/mutant.h"
#include "regionserver/store/ownership.h"
#include "regionserver/wal/log_splitter.h"

namespace ratchet::regionserver {
namespace {

bool IsNamed(const ManifestState& state, const std::string& name) {
  return std::any_of(state.files.begin(), state.files.end(),
                     [&name](const StoreFileInfo& file) { return file.name == name; });
}

bool IsUnneeded(const std::string& name, const ManifestState& state, std::uint64_t open_number) {
  if (const std::uint64_t opening = OpeningOfStoreFile(name); opening > 0) {
    const bool lower = opening < open_number || RATCHET_MUTANT("unneeded.any_opening");
    return lower && !IsNamed(state, name);
  }
  if (const std::uint64_t opening = std::max(ManifestNumber(name), ServingNumber(name)); opening > 0)
    return opening < open_number;
  if (name.starts_with(kUnfinishedManifestPrefix)) {
    const std::uint64_t opening = ManifestNumber(std::string_view(name).substr(kUnfinishedManifestPrefix.size()));
    return opening > 0 && opening < open_number;
  }
  if (name.starts_with(kEditsPrefix))
    return state.consumed_edits.contains(name) || RATCHET_MUTANT("unneeded.any_edits");
  return false;
}

}  // namespace

std::vector<std::string> UnneededFiles(const std::vector<std::string>& names, const ManifestState& state,
                                       std::uint64_t open_number) {
  std::vector<std::string> unneeded;
  for (const std::string& name : names)
    if (IsUnneeded(name, state, open_number)) unneeded.push_back(name);
  return unneeded;
}

}  // namespace ratchet::regionserver
