// Compaction: merges store files. Reads only immutable files, so flushes go on meanwhile; the result goes live through the
// manifest like a flush.
#include <algorithm>
#include <utility>

#include "common/base/fault_point.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/io/fatal.h"
#include "regionserver/region/region_core.h"

namespace ratchet::regionserver {
namespace {

using Files = std::vector<std::shared_ptr<const StoreFiles::Reader>>;

constexpr std::size_t kMostFilesAtOnce = 10;
constexpr std::uint64_t kSmallFile = 1U << 20;  // below it sizes count as equal

// Size-tiered: the longest run of similar sizes, smallest first.
Files ChooseTier(Files files, std::size_t least) {
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a->info().bytes < b->info().bytes; });
  for (std::size_t begin = 0; begin + least <= files.size(); ++begin) {
    std::size_t end = begin;
    std::uint64_t total = 0;
    while (end < files.size() && end - begin < kMostFilesAtOnce) {
      const std::uint64_t size = std::max(files[end]->info().bytes, kSmallFile);
      if (end > begin && size * (end - begin) > 2 * total) break;
      total += size;
      ++end;
    }
    if (end - begin >= least)
      return {files.begin() + static_cast<std::ptrdiff_t>(begin), files.begin() + static_cast<std::ptrdiff_t>(end)};
  }
  return {};
}

// Writes cells family by family as the rules leave them; makes no file when nothing is left.
class Merger {
 public:
  Merger(const StoreFiles& store_files, std::string name, bool major, std::int64_t now_ms)
      : store_files_(store_files), name_(std::move(name)), major_(major), now_ms_(now_ms) {}

  Status Add(StoredCell cell, const FamilyRules* rules) {
    if (!family_.empty() && (family_.front().cell.row != cell.cell.row || family_.front().cell.family != cell.cell.family))
      RATCHET_TRY(EndFamily());
    rules_ = rules;
    family_.push_back(std::move(cell));
    return Ok();
  }
  Result<std::vector<StoreFileInfo>> Finish() {
    RATCHET_TRY(EndFamily());
    std::vector<StoreFileInfo> files;
    if (!writer_) return files;
    RATCHET_ASSIGN(StoreFileInfo file, writer_->Finish());
    files.push_back(std::move(file));
    return files;
  }

 private:
  Status EndFamily() {
    std::vector<StoredCell> cells = std::exchange(family_, {});
    if (rules_ == nullptr && RATCHET_MUTANT("region.drop_unknown_families")) cells.clear();
    // S54: a family that this opening does not know is kept as it is; its rules may be known to the next one.
    if (rules_ != nullptr) cells = CompactFamily(std::move(cells), *rules_, major_, now_ms_);
    for (const StoredCell& stored : cells) {
      if (!writer_) {
        RATCHET_ASSIGN(writer_, store_files_.Create(name_));
      }
      RATCHET_TRY(writer_->Add(CellKey(stored.cell, stored.sequence), EncodeStoredValue(stored.cell.value, stored.ttl_ms)));
    }
    return Ok();
  }

  const StoreFiles& store_files_;
  const std::string name_;
  const bool major_;
  const std::int64_t now_ms_;
  const FamilyRules* rules_ = nullptr;
  std::vector<StoredCell> family_;
  std::unique_ptr<StoreFiles::Writer> writer_;
};

}  // namespace

Status RegionCore::Compact(bool major) {
  MutexLock compaction_lock(compacting_);
  if (major) RATCHET_TRY(Flush());  // so that a delete still in memory takes effect too
  RATCHET_TRY(CheckReadable());
  Files inputs = TakeReadPoint().view->files;
  if (!major) inputs = ChooseTier(std::move(inputs), std::max<std::size_t>(params.settings.compaction_min_files, 2));
  if (inputs.empty()) return Ok();

  std::vector<std::unique_ptr<CellCursor>> cursors;
  for (const auto& file : inputs) cursors.push_back(StoreFiles::NewCursor(file));
  const std::unique_ptr<CellCursor> cursor = MergeCursors(std::move(cursors), order);
  Merger merger(store_files_, NewFileName(), major, params.clock->WallMillis());
  for (cursor->Seek({}); cursor->Valid(); cursor->Next()) {
    RATCHET_ASSIGN(StoredCell cell, DecodeStoredCell(cursor->key(), cursor->value()));
    const FamilyRules* const rules = RulesFor(cell.cell.family);
    RATCHET_TRY(merger.Add(std::move(cell), rules));
  }
  RATCHET_TRY(cursor->status());
  ManifestEdit edit;
  Result<std::vector<StoreFileInfo>> added = merger.Finish();
  if (!added.ok() && added.error().code() == Code::kIo && !io::DieOnFailedSync(added.error(), "compacted store file"))
    return added.error();
  RATCHET_ASSIGN(edit.added, std::move(added));
  for (const auto& file : inputs) edit.removed.push_back(file->info().name);
  RATCHET_TRY(HitFault("region.compacted", encoded_name));

  MutexLock file_lock(file_work_);
  RATCHET_TRY(CheckReadable());  // closed meanwhile: the file is nobody's, the cleaner takes it
  edit.flushed_sequence = manifest_->state().flushed_sequence;
  edit.greatest_timestamp = manifest_->state().greatest_timestamp;
  RATCHET_LOG(kInfo, "region {}: compacted {} files ({})", encoded_name, edit.removed.size(), major ? "major" : "minor");
  return InstallFiles(std::move(edit), false);
}

}  // namespace ratchet::regionserver
