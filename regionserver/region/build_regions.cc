#include "regionserver/region/build_regions.h"

#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "common/base/fault_point.h"
#include "common/base/mutant.h"
#include "regionserver/region/region_maker.h"
#include "regionserver/store/manifest.h"
#include "regionserver/store/ownership.h"
#include "regionserver/store/recovered_edits.h"

namespace ratchet::regionserver {
namespace {

// S36 (seal before build): from here on no earlier opening of the parent passes its CHECK.
Status Seal(const BuildPart& parent, std::uint64_t number) {
  RATCHET_ASSIGN(const std::unique_ptr<io::WritableFile> file, parent.directory->Create(ManifestName(number)));
  RATCHET_TRY(file->Close());
  // ReadClosed lists the directory again, because the names must be read after every parent is sealed.
  RATCHET_TRY(ClaimRegion(*parent.directory, number));
  return Ok();
}

// S35 (proof of a clean close): returns the state of a parent that was closed cleanly; otherwise `not_clean` gets what
// is missing.
Result<ManifestState> ReadClosed(const BuildPart& parent, std::uint64_t number, std::string& not_clean) {
  const std::string encoded = parent.region.encoded_name();
  io::Directory& directory = *parent.directory;
  RATCHET_ASSIGN(const std::vector<std::string> names, directory.List());
  RATCHET_ASSIGN(std::optional<NumberedState> newest, NewestState(directory, names, encoded, number));
  if (!newest) {
    not_clean = fmt::format("region {} has no manifest with a state", encoded);
    return ManifestState{};
  }
  if (!newest->state.closed && !RATCHET_MUTANT("build.any_close")) {
    not_clean = fmt::format("{} of region {} does not end with CLOSED", ManifestName(newest->number), encoded);
    return ManifestState{};
  }
  RATCHET_ASSIGN(const std::uint64_t uncovered, FirstUncovered(directory, encoded, newest->state, names));
  if (uncovered != UINT64_MAX && !RATCHET_MUTANT("build.ignore_edits")) {
    not_clean = fmt::format("region {} has recovered edits from sequence {} on, and its files end at {}", encoded,
                            uncovered, newest->state.flushed_sequence);
  }
  return std::move(newest->state);
}

}  // namespace

Result<BuildReport> BuildRegions(const BuildRequest& request) {
  if (request.number == 0 || request.parents.empty() || request.children.empty())
    return Error(Code::kInvalidArgument, "a build needs a number, a parent and a child");
  if (request.families.empty())
    return Error(Code::kFailedPrecondition,
                 "the order to build regions carries a schema without column families: the master has not read the "
                 "table's descriptor");
  for (const BuildPart& parent : request.parents)
    if (!RATCHET_MUTANT("build.no_seal")) RATCHET_TRY(Seal(parent, request.number));
  RATCHET_TRY(HitFault("build.sealed", request.parents.front().region.encoded_name()));
  BuildReport report;
  std::vector<MadeOf> parents;
  for (const BuildPart& part : request.parents) {
    RATCHET_ASSIGN(ManifestState state, ReadClosed(part, request.number, report.not_clean));
    if (!report.not_clean.empty()) return report;
    parents.push_back({part.region, part.directory, std::move(state)});
  }
  RegionMaker maker(request.number, request.families, std::move(parents));
  for (const BuildPart& child : request.children) RATCHET_TRY(maker.Make(child.region, *child.directory));
  RATCHET_TRY(HitFault("build.published", request.children.front().region.encoded_name()));
  report.sequence = maker.sequence();
  report.files = maker.files();
  return report;
}

}  // namespace ratchet::regionserver
