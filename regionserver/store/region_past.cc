#include "regionserver/store/region_past.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/base/accepted_mark.h"
#include "common/base/exception_names.h"
#include "common/base/mutant.h"
#include "regionserver/store/ownership.h"

namespace ratchet::regionserver {
namespace {

// S38 (no empty opening over data), S53 (opening starts with full state): the state that the order names must exist.
Status CheckBirth(const io::Directory& directory, const RegionPast& past, std::uint64_t newest) {
  if (past.opened_before && newest == 0 && !RATCHET_MUTANT("region.open_over_lost_manifest")) {
    return Error(
        Code::kCorruption,
        fmt::format("{}: the master has recorded an opening of the region, but there is no manifest: restore its "
                    "files from a copy",
                    directory.path()));
  }
  if (newest >= past.build_number || RATCHET_MUTANT("region.any_build")) return Ok();
  return Error(Code::kCorruption,
               fmt::format("{}: {} should have the files that a split or a merge gave the region, but it is "
                           "missing: restore the region's files from a copy",
                           directory.path(), ManifestName(past.build_number)));
}

// S118 (older copy stays closed): the state must not be older than an opening that served, or than a flush.
Status CheckCopy(const io::Directory& directory, const std::vector<std::string>& names, const RegionPast& past,
                 const FoundState& newest) {
  const std::uint64_t number = newest.number;
  const std::uint64_t flushed = newest.flushed_sequence;
  if ((number >= past.served && flushed >= past.flushed) || RATCHET_MUTANT("region.no_served")) return Ok();
  if (std::binary_search(names.begin(), names.end(), AcceptedCopyName(number))) return Ok();
  return Error(
      Code::kWentBack,
      fmt::format("{} is an older copy of the region's directory: its newest state is {}, flushed up to "
                  "sequence {}, but opening {} has served, and a close has flushed up to {}. The region stays "
                  "closed: put the newer directory back; to continue with this copy, make the empty file {} in it",
                  directory.path(), ManifestName(number), flushed, past.served, past.flushed, AcceptedCopyName(number)),
      std::string(exception::kOlderCopy));
}

}  // namespace

std::string AcceptedCopyName(std::uint64_t number) { return AcceptedMark(std::to_string(number)); }

// S118: the directory has a number between `issued` and this opening's own. A master gave it whose store or hbase:meta
// was replaced by an older copy since.
Status CheckIssued(io::Directory& directory, const RegionPast& past, std::uint64_t open_number) {
  if (past.issued == 0 || RATCHET_MUTANT("region.no_issued")) return Ok();
  RATCHET_ASSIGN(const std::vector<std::string> names, directory.List());
  for (const std::string& name : names) {
    const std::uint64_t number = std::max({ManifestNumber(name), ServingNumber(name), OpenedNumber(name)});
    if (number <= past.issued || number >= open_number) continue;
    return Error(Code::kWentBack,
                 fmt::format("{}/{} was made by an opening that the master does not know of: the newest number on its "
                             "record is {}. The procedure store or hbase:meta is an older copy: put the newer one back",
                             directory.path(), name, past.issued),
                 std::string(exception::kStoreWentBack));
  }
  return Ok();
}

Status CheckPast(const io::Directory& directory, const std::vector<std::string>& names, const RegionPast& past,
                 const FoundState& newest) {
  RATCHET_TRY(CheckBirth(directory, past, newest.number));
  return CheckCopy(directory, names, past, newest);
}

}  // namespace ratchet::regionserver
