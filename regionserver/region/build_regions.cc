#include "regionserver/region/build_regions.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "common/base/fault_point.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/io/fatal.h"
#include "regionserver/store/cell_key.h"
#include "regionserver/store/manifest.h"
#include "regionserver/store/ownership.h"
#include "regionserver/store/recovered_edits.h"
#include "regionserver/store/row_range.h"

namespace ratchet::regionserver {
namespace {

RowRange RangeOf(const RegionInfo& region) { return {region.start_key, region.end_key}; }
std::string RowOfKey(std::string_view key) { return DecodeRow(EncodedRowOf(key)); }

// S36: from here on no earlier opening of the parent passes its CHECK.
Status Seal(const BuildPart& parent, std::uint64_t number) {
  if (RATCHET_MUTANT("build.no_seal")) return Ok();
  RATCHET_ASSIGN(const std::unique_ptr<io::WritableFile> file, parent.directory->Create(ManifestName(number)));
  RATCHET_TRY(file->Close());
  // ReadClosed lists again: the names it reads are those that are there when every parent is sealed.
  RATCHET_TRY(ClaimRegion(*parent.directory, number));
  return Ok();
}

struct Parent {
  const BuildPart* part = nullptr;
  ManifestState state;
};

// S35. The state of a parent that was closed cleanly; otherwise `not_clean` says what is missing.
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

// S49: what the table calls a family now. In the files of a parent that knows another one of its name it is dead.
FamilyIds IdsOf(const std::vector<FamilyDescriptor>& families) {
  FamilyIds ids;
  for (const FamilyDescriptor& family : families) {
    if (family.added_by != 0) ids[family.name] = family.added_by;
  }
  return ids;
}

std::set<std::string, std::less<>> DeadIn(const ManifestState& state, const std::vector<FamilyDescriptor>& families) {
  std::set<std::string, std::less<>> dead;
  for (const FamilyDescriptor& family : families) {
    const auto known = state.families.find(family.name);
    if (family.added_by != (known == state.families.end() ? 0 : known->second)) dead.insert(family.name);
  }
  return dead;
}

// S39: the part of `file` that is the child's; nothing when no row of it can be.
std::optional<StoreFileInfo> PartOf(const StoreFileInfo& file, const RegionInfo& parent, const RegionInfo& child) {
  const std::string first = RowOfKey(file.smallest_key);
  const std::string last = RowOfKey(file.largest_key);
  RowRange range = Shared(Shared({file.low, file.high}, RangeOf(parent)), RangeOf(child));
  if (RATCHET_MUTANT("build.widen_ranges")) range = RangeOf(child);
  if (!range.Touches(first, last)) return std::nullopt;
  StoreFileInfo part = file;
  part.low.clear();
  part.high.clear();
  if (!range.Contains(first) || !range.Contains(last)) {
    part.low = range.low;
    part.high = range.high;
  }
  return part;
}

// For a file that cannot have another name.
Status CopyFile(io::Directory& from, const std::string& name, io::Directory& to, const std::string& as) {
  constexpr std::size_t kPiece = 1U << 20;
  RATCHET_ASSIGN(const std::unique_ptr<io::ReadableFile> source, from.OpenForRead(name));
  RATCHET_ASSIGN(const std::unique_ptr<io::WritableFile> copy, to.Create(as));
  std::string piece(kPiece, '\0');
  for (std::uint64_t at = 0;;) {
    RATCHET_ASSIGN(const std::size_t got, source->ReadAt(at, piece.data(), piece.size()));
    if (got == 0) break;
    RATCHET_TRY(copy->Append(std::string_view(piece).substr(0, got)));
    at += got;
  }
  const Status synced = copy->Sync();
  if (!io::DieOnFailedSync(synced, "copied store file")) return synced;
  return copy->Close();
}

Status GiveName(io::Directory& from, const std::string& name, io::Directory& to, const std::string& as) {
  const Status linked = from.LinkTo(name, to, as);
  if (linked.ok() || linked.error().code() != Code::kUnavailable) return linked;
  return CopyFile(from, name, to, as);
}

// What all parents have in common with the child, without files. Each number is the greatest of all.
ManifestState Inherited(const std::vector<Parent>& parents, const std::vector<FamilyDescriptor>& families) {
  ManifestState state;
  // Regions that were one know the same ones: each goes once, or splits and merges in turn would double them.
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::int64_t> nonces;
  for (const Parent& parent : parents) {
    const ManifestState& from = parent.state;
    const bool first_only = RATCHET_MUTANT("build.first_parents_sequence") && &parent != parents.data();
    if (!first_only) state.flushed_sequence = std::max(state.flushed_sequence, from.flushed_sequence);
    state.greatest_timestamp = std::max(state.greatest_timestamp, from.greatest_timestamp);
    for (const UsedNonce& nonce : from.nonces) {
      auto& used_ms = nonces[{nonce.group, nonce.value}];
      used_ms = std::max(used_ms, nonce.used_ms);
    }
    state.nonces_since_ms = std::max(state.nonces_since_ms, from.nonces_since_ms);
  }
  for (const auto& [nonce, used_ms] : nonces) state.nonces.push_back({nonce.first, nonce.second, used_ms});
  if (RATCHET_MUTANT("build.forget_nonces")) state.nonces.clear();
  state.families = IdsOf(families);
  return state;
}

class Builder {
 public:
  Builder(const BuildRequest& request, std::vector<Parent> parents)
      : request_(request), parents_(std::move(parents)), inherited_(Inherited(parents_, request.families)) {}

  Status Build(const BuildPart& child) {
    ManifestState state = inherited_;
    std::size_t next = 1;
    for (const Parent& parent : parents_) {
      const auto dead = DeadIn(parent.state, request_.families);
      for (const StoreFileInfo& file : parent.state.files) {
        std::optional<StoreFileInfo> part = PartOf(file, parent.part->region, child.region);
        if (!part) continue;
        part->name = fmt::format("{}-{}.sst", Number(), next++);
        part->dead.insert(dead.begin(), dead.end());
        if (RATCHET_MUTANT("build.one_name")) IgnoreResult(child.directory->Unlink(part->name), "a mutant's");
        RATCHET_TRY(GiveName(*parent.part->directory, file.name, *child.directory, part->name));
        state.files.push_back(std::move(*part));
        ++files_;
      }
    }
    RATCHET_TRY(HitFault("build.linked", child.region.encoded_name()));
    const Status synced = child.directory->Sync();  // the names, before a manifest says them
    if (!io::DieOnFailedSync(synced, "region directory")) return synced;
    return Manifest::Publish(*child.directory, child.region.encoded_name(), Number(), state);
  }
  // S37: of every name that this build gives.
  [[nodiscard]] std::uint64_t Number() const { return RATCHET_MUTANT("build.one_name") ? 1 : request_.number; }
  [[nodiscard]] std::uint64_t sequence() const { return inherited_.flushed_sequence; }
  [[nodiscard]] std::size_t files() const { return files_; }

 private:
  const BuildRequest& request_;
  const std::vector<Parent> parents_;
  const ManifestState inherited_;
  std::size_t files_ = 0;
};

}  // namespace

Result<BuildReport> BuildRegions(const BuildRequest& request) {
  if (request.number == 0 || request.parents.empty() || request.children.empty())
    return Error(Code::kInvalidArgument, "a build needs a number, a parent and a child");
  if (request.families.empty())
    return Error(Code::kFailedPrecondition,
                 "the order to build regions carries a schema without column families: the master has not read the "
                 "table's descriptor");
  for (const BuildPart& parent : request.parents) RATCHET_TRY(Seal(parent, request.number));
  RATCHET_TRY(HitFault("build.sealed", request.parents.front().region.encoded_name()));
  BuildReport report;
  std::vector<Parent> parents;
  for (const BuildPart& part : request.parents) {
    RATCHET_ASSIGN(ManifestState state, ReadClosed(part, request.number, report.not_clean));
    if (!report.not_clean.empty()) return report;
    parents.push_back({&part, std::move(state)});
  }
  Builder builder(request, std::move(parents));
  for (const BuildPart& child : request.children) RATCHET_TRY(builder.Build(child));
  RATCHET_TRY(HitFault("build.published", request.children.front().region.encoded_name()));
  report.sequence = builder.sequence();
  report.files = builder.files();
  return report;
}

}  // namespace ratchet::regionserver
