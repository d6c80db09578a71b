#include "regionserver/region/region_maker.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "common/base/fault_point.h"
#include "common/base/mutant.h"
#include "common/io/fatal.h"
#include "regionserver/store/cell_key.h"
#include "regionserver/store/row_range.h"

namespace ratchet::regionserver {
namespace {

RowRange RangeOf(const RegionInfo& region) { return {region.start_key, region.end_key}; }
std::string RowOfKey(std::string_view key) { return DecodeRow(EncodedRowOf(key)); }

// S49 (re-added family is new): the ids of the table's families now. Cells of a parent's family of the same name but
// another id are dead.
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

// S39 (children inherit from all parents): returns the part of `file` in the child's range; nullopt when the file
// cannot have a row of it.
std::optional<StoreFileInfo> PartOf(const StoreFileInfo& file, const RegionInfo& parent, const RegionInfo& child) {
  const std::string first = RowOfKey(file.smallest_key);
  const std::string last = RowOfKey(file.largest_key);
  const RowRange had =
      RATCHET_MUTANT("build.widen_ranges") ? RangeOf(child) : Shared({file.low, file.high}, RangeOf(parent));
  const RowRange range = Shared(had, RangeOf(child));
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

// Copies a file that cannot have another link.
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

// S113 (serial order of openings): keeps the later point of each server.
void AddPoints(const std::vector<QueuePoint>& points, std::vector<QueuePoint>& to) {
  for (const QueuePoint& point : points) {
    const auto same =
        std::find_if(to.begin(), to.end(), [&point](const auto& each) { return each.server == point.server; });
    if (same == to.end()) {
      to.push_back(point);
    } else if (std::tie(same->file, same->offset) < std::tie(point.file, point.offset)) {
      *same = point;
    }
  }
}

// The state without files that the child inherits from its parents. Each number is the greatest of all parents.
ManifestState Inherited(const std::vector<MadeOf>& parents, const std::vector<FamilyDescriptor>& families) {
  ManifestState state;
  // Regions that were one have common nonces. Each is kept once, because repeated splits and merges would double them.
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::int64_t> nonces;
  for (const MadeOf& parent : parents) {
    const ManifestState& from = parent.state;
    const bool first_only = RATCHET_MUTANT("build.first_parents_sequence") && &parent != parents.data();
    if (!first_only) state.flushed_sequence = std::max(state.flushed_sequence, from.flushed_sequence);
    state.greatest_timestamp = std::max(state.greatest_timestamp, from.greatest_timestamp);
    for (const UsedNonce& nonce : from.nonces) {
      auto& used_ms = nonces[{nonce.group, nonce.value}];
      used_ms = std::max(used_ms, nonce.used_ms);
    }
    state.nonces_since_ms = std::max(state.nonces_since_ms, from.nonces_since_ms);
    AddPoints(from.shipped_until, state.shipped_until);
  }
  for (const auto& [nonce, used_ms] : nonces)
    if (!RATCHET_MUTANT("build.forget_nonces")) state.nonces.push_back({nonce.first, nonce.second, used_ms});
  state.families = IdsOf(families);
  return state;
}

}  // namespace

RegionMaker::RegionMaker(std::uint64_t number, std::vector<FamilyDescriptor> families, std::vector<MadeOf> parents)
    : number_(RATCHET_MUTANT("build.one_name") ? 1 : number),
      families_(std::move(families)),
      parents_(std::move(parents)),
      inherited_(Inherited(parents_, families_)) {}

Status RegionMaker::Make(const RegionInfo& child, io::Directory& directory) {
  const std::string encoded = child.encoded_name();
  ManifestState state = inherited_;
  std::size_t next = 1;
  for (const MadeOf& parent : parents_) {
    const auto dead = DeadIn(parent.state, families_);
    for (const StoreFileInfo& file : parent.state.files) {
      std::optional<StoreFileInfo> part = PartOf(file, parent.region, child);
      if (!part) continue;
      part->name = fmt::format("{}-{}.sst", number_, next++);
      part->dead.insert(dead.begin(), dead.end());
      if (RATCHET_MUTANT("build.one_name")) IgnoreResult(directory.Unlink(part->name), "a mutant's");
      RATCHET_TRY(GiveName(*parent.directory, file.name, directory, part->name));
      bytes_ += part->bytes;
      state.files.push_back(std::move(*part));
      ++files_;
    }
  }
  RATCHET_TRY(HitFault("build.linked", encoded));
  const Status synced = directory.Sync();  // make the names durable before a manifest contains them
  if (!io::DieOnFailedSync(synced, "region directory")) return synced;
  return Manifest::Publish(directory, encoded, number_, state);
}

}  // namespace ratchet::regionserver
