// Compaction: merges store files. It reads only immutable files, so flushes continue meanwhile; the result becomes live
// through the manifest, like a flush.
#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "common/base/fault_point.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/io/fatal.h"
#include "regionserver/region/region_core.h"
#include "regionserver/region/region_counts.h"
#include "regionserver/region/table_compression.h"
#include "regionserver/region/table_filter.h"
#include "regionserver/store/cell_decoder.h"

namespace ratchet::regionserver {
namespace {

using Files = std::vector<std::shared_ptr<const StoreFiles::Reader>>;

constexpr std::size_t kMostFilesAtOnce = 10;
constexpr std::uint64_t kSmallFile = 1U << 20;  // smaller files count as equal in size

constexpr std::string_view kLeastFiles = "hbase.hstore.compaction.min";
constexpr std::string_view kLeastFilesBefore = "hbase.hstore.compactionThreshold";  // the setting's former name

std::optional<std::int64_t> LeastFilesIn(const Attributes& settings) {
  const auto number = NumberIn(settings, kLeastFiles);
  return number ? number : NumberIn(settings, kLeastFilesBefore);
}

// The setting of a family overrides that of the table, which overrides that of the server. Files hold cells of all
// families, so the lowest value is used.
std::size_t LeastFiles(const OpenParams& params) {
  auto of_table = LeastFilesIn(params.table->attributes);
  if (!of_table) of_table = LeastFilesIn(params.table->configuration);
  const std::int64_t otherwise = of_table.value_or(static_cast<std::int64_t>(params.settings->compaction_min_files));
  std::int64_t least = INT64_MAX;
  for (const FamilyDescriptor& family : params.table->families) {
    auto own = LeastFilesIn(family.attributes);
    if (!own) own = LeastFilesIn(family.configuration);
    least = std::min(least, own.value_or(otherwise));
  }
  return static_cast<std::size_t>(std::max<std::int64_t>(least, 2));
}

// Size-tiered: the longest run of similar sizes, smallest first.
Files ChooseTier(Files files, std::size_t least) {
  const std::size_t most = std::max(kMostFilesAtOnce, least);
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a->info().bytes < b->info().bytes; });
  for (std::size_t begin = 0; begin + least <= files.size(); ++begin) {
    std::size_t end = begin;
    std::uint64_t total = 0;
    while (end < files.size() && end - begin < most) {
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

FileCompression CompressionOf(const RegionCore& core, bool major) {
  return CompressionFor(*core.params.table, major ? FileUse::kMajorCompaction : FileUse::kMinorCompaction);
}

// Writes the cells that the rules keep, one by one and as stored; makes no file when no cell is left. Major: keeps the
// cells that a reader could still see, and markers only if deleted cells are kept. Minor: drops only exact duplicates.
class Merger {
 public:
  // `room` is the disk space reserved for the output; null: there is enough.
  Merger(const StoreFiles& store_files, const RegionCore& core, DiskRoom::Share* room, std::string name, bool major,
         std::int64_t now_ms)
      : store_files_(store_files), core_(core), room_(room), name_(std::move(name)), major_(major), now_ms_(now_ms) {}

  Status Add(std::string_view key, std::string_view value) {
    RATCHET_ASSIGN(const CellDecoder::Change change, decoder_.DecodeKey(key));
    RATCHET_TRY(decoder_.DecodeValue(value));
    const CellView& cell = decoder_.cell();
    if (change >= CellDecoder::Change::kFamily) {
      rules_ = core_.RulesFor(cell.family);
      if (rules_ != nullptr) puts_.Begin(*rules_, now_ms_, kNoMarkers);
    } else if (change == CellDecoder::Change::kColumn) {
      puts_.BeginColumn();
    }
    // A family that this opening does not know was dropped if the order named its descriptor (S49: re-added family is
    // new). Otherwise the family's cells are kept unchanged, because the next opening may know its rules (S54: no
    // schema, no change).
    const bool dropped = core_.params.schema_number != 0 || RATCHET_MUTANT("region.drop_unknown_families");
    if (rules_ == nullptr) return dropped ? Ok() : Keep(key, value);
    return IsKept(key) ? Keep(key, value) : Ok();
  }
  Result<std::vector<StoreFileInfo>> Finish() {
    std::vector<StoreFileInfo> files;
    if (!writer_) return files;
    RATCHET_ASSIGN(StoreFileInfo file, writer_->Finish());
    if (major_) file.major_ms = now_ms_;
    files.push_back(std::move(file));
    return files;
  }

 private:
  // Markers hide no cells here, because deleted cells are kept.
  static constexpr TimeRange kNoMarkers{0, 0};

  bool IsKept(std::string_view key) {
    if (!major_) return WithoutSequence(key) != last_kept_;
    const CellView& cell = decoder_.cell();
    if (puts_.Exists(cell.type, cell.timestamp, decoder_.ttl_ms())) return true;
    return cell.type != CellType::kPut && puts_.KeepsMarker(cell.type, cell.timestamp) &&
           WithoutSequence(key) != last_kept_;
  }
  Status Keep(std::string_view key, std::string_view value) {
    last_kept_ = WithoutSequence(key);
    if (!writer_) {
      RATCHET_ASSIGN(writer_, store_files_.Create(name_, CompressionOf(core_, major_), FilterFor(*core_.params.table)));
    }
    RATCHET_TRY(writer_->Add(key, value));
    unchecked_ += key.size() + value.size();
    if (room_ == nullptr || unchecked_ < DiskRoom::kStep) return Ok();
    return room_->Wrote(std::exchange(unchecked_, 0));
  }

  const StoreFiles& store_files_;
  const RegionCore& core_;
  DiskRoom::Share* const room_;
  const std::string name_;
  const bool major_;
  const std::int64_t now_ms_;
  const FamilyRules* rules_ = nullptr;
  CellDecoder decoder_;
  ExistingPuts puts_;
  std::string last_kept_;
  std::uint64_t unchecked_ = 0;  // bytes written since the last check of the disk space
  std::unique_ptr<StoreFiles::Writer> writer_;
};

// Returns the most that a compaction of `inputs` may write: no more cells than the inputs have, in blocks that may be
// filled differently. Inputs with another compression may expand to their uncompressed size.
std::uint64_t MostWritten(const Files& inputs, FileCompression compression) {
  std::uint64_t bytes = 0;
  for (const auto& file : inputs) {
    const bool alike = file->compression() == CompressionName(compression);
    bytes += alike ? file->info().bytes : std::max(file->info().bytes, file->raw_bytes());
  }
  return bytes + bytes / 16;
}

}  // namespace

Status RegionCore::Compact(bool major) {
  MutexLock compaction_lock(compacting_);
  if (major) RATCHET_TRY(Flush());  // so that a delete in the memstore is applied too
  RATCHET_TRY(CheckReadable());
  Files inputs = AcquireReadPoint().view->files;
  if (!major) inputs = ChooseTier(std::move(inputs), LeastFiles(params));
  if (inputs.empty()) return Ok();
  const TimePoint began = params.clock->Now();
  const Status merged = MergeFiles(std::move(inputs), major);
  RegionCounts::OfProcess().compact.Note(params.clock->Now() - began);
  if (!merged.ok()) RegionCounts::OfProcess().failed_compactions.fetch_add(1, std::memory_order_relaxed);
  return merged;
}

Status RegionCore::MergeFiles(Files inputs, bool major) {
  std::optional<DiskRoom::Share> room;
  if (params.settings->room != nullptr) {
    RATCHET_ASSIGN(DiskRoom::Share share,
                   params.settings->room->Take(*directory_, MostWritten(inputs, CompressionOf(*this, major))));
    room.emplace(std::move(share));
  }

  std::vector<std::unique_ptr<CellCursor>> cursors;
  for (const auto& file : inputs) cursors.push_back(StoreFiles::NewCursor(file));
  const std::unique_ptr<CellCursor> cursor = MergeCursors(std::move(cursors), order);
  Merger merger(store_files_, *this, room ? &*room : nullptr, NewFileName(), major, params.clock->WallMillis());
  for (cursor->Seek({}); cursor->Valid(); cursor->Next()) RATCHET_TRY(merger.Add(cursor->key(), cursor->value()));
  RATCHET_TRY(cursor->status());
  ManifestEdit edit;
  Result<std::vector<StoreFileInfo>> added = merger.Finish();
  if (!added.ok() && added.error().code() == Code::kIo && !io::DieOnFailedSync(added.error(), "compacted store file"))
    return added.error();
  RATCHET_ASSIGN(edit.added, std::move(added));
  for (const auto& file : inputs) edit.removed.push_back(file->info().name);
  const Status interrupted = HitFault("region.compacted", encoded_name);

  MutexLock file_lock(file_work_);
  // The region was closed meanwhile: no manifest names the file (S80: remove only unnamed files).
  if (Status readable = interrupted.ok() ? CheckReadable() : interrupted; !readable.ok()) {
    RemoveFiles(edit.added);
    return readable;
  }
  edit.flushed_sequence = manifest_->state().flushed_sequence;
  edit.greatest_timestamp = manifest_->state().greatest_timestamp;
  RATCHET_LOG(kInfo, "region {}: compacted {} files ({})", encoded_name, edit.removed.size(),
              major ? "major" : "minor");
  return InstallFiles(std::move(edit), false);
}

}  // namespace ratchet::regionserver
