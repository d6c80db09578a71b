#include "regionserver/region/copy_region.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "common/base/fault_point.h"
#include "common/base/mutant.h"
#include "regionserver/region/region_maker.h"
#include "regionserver/store/ownership.h"
#include "regionserver/store/recovered_edits.h"

namespace ratchet::regionserver {
namespace {

// S46 (source of a snapshot part): returns why the newest manifest is not the whole region, or an empty string. It is
// whole if its last record is CLOSED, or if a build made it and no opening followed.
std::string NotAtRest(const std::string& encoded, const NumberedState& newest, const RegionPast& past) {
  const bool unopened = past.build_number != 0 && newest.number == past.build_number;
  if (newest.state.closed || unopened || RATCHET_MUTANT("copy.any_manifest")) return {};
  return fmt::format("{} of region {} does not end with CLOSED", ManifestName(newest.number), encoded);
}

}  // namespace

Result<CopyReport> CopyState(const RegionInfo& source, io::Directory& directory, ManifestState state,
                             const CopyTarget& target) {
  if (target.number == 0 || target.families.empty()) {
    return Error(Code::kFailedPrecondition, "the order to copy a region carries no number, or no column families");
  }
  state.shipped_until.clear();  // a copy is another region: it does not wait for writes to the source
  std::vector<MadeOf> whole;
  whole.push_back({source, &directory, std::move(state)});
  RegionMaker maker(target.number, target.families, std::move(whole));
  RATCHET_TRY(maker.Make(target.region, *target.directory));
  RATCHET_TRY(HitFault("copy.published", target.region.encoded_name()));
  CopyReport report;
  report.sequence = maker.sequence();
  report.files = maker.files();
  report.bytes = maker.bytes();
  return report;
}

Result<CopyReport> CopyClosedRegion(const RegionInfo& source, io::Directory& directory, const RegionPast& past,
                                    const CopyTarget& target) {
  const std::string encoded = source.encoded_name();
  RATCHET_ASSIGN(const std::vector<std::string> names, directory.List());
  RATCHET_ASSIGN(std::optional<NumberedState> newest, NewestState(directory, names, encoded, UINT64_MAX));
  CopyReport report;
  if (!newest && (past.opened_before || past.build_number != 0)) {
    report.not_ready = fmt::format("region {} has no manifest with a state", encoded);
    return report;
  }
  if (!newest) newest.emplace();  // the source was created empty and never opened
  if (newest->number != 0) report.not_ready = NotAtRest(encoded, *newest, past);
  if (!report.not_ready.empty()) return report;
  RATCHET_ASSIGN(const std::uint64_t uncovered, FirstUncovered(directory, encoded, newest->state, names));
  if (uncovered != UINT64_MAX) {
    report.not_ready = fmt::format("region {} has recovered edits from sequence {} on, and its files end at {}",
                                   encoded, uncovered, newest->state.flushed_sequence);
    return report;
  }
  return CopyState(source, directory, std::move(newest->state), target);
}

Result<CopyReport> CopyPart(const RegionInfo& source, io::Directory& directory, std::uint64_t part,
                            const CopyTarget& target) {
  auto state = ReadManifest(directory, source.encoded_name(), part);
  if (!state.ok()) return state.error().Annotate("the part of a snapshot");
  return CopyState(source, directory, std::move(*state), target);
}

}  // namespace ratchet::regionserver
