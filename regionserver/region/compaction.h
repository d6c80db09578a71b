// The parts of a compaction that decide: which store files it merges, and which of their cells it keeps. FileSet runs
// it.
//
// Threads: the functions from any thread; a writer by one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "regionserver/region/file_settings.h"
#include "regionserver/region/opening_rules.h"
#include "regionserver/region/region_data.h"
#include "regionserver/store/cell_decoder.h"
#include "regionserver/store/disk_room.h"
#include "regionserver/store/row_selector.h"
#include "regionserver/store/store_file.h"

namespace ratchet::regionserver {

// Size-tiered: returns the longest run of files with similar sizes, smallest first; none when no run is long enough for
// the table.
[[nodiscard]] ReadableFiles ChooseTier(ReadableFiles files, const OpenParams& params);

// True if a compaction of these files, all of the region's, should be major although no major one was requested: those
// of a system table that are small together. Masters and clients read all of hbase:meta. Without this, its scans would
// take the longer the more tables had ever been dropped.
[[nodiscard]] bool ShouldCompactWhole(const ReadableFiles& files, const OpenParams& params);

[[nodiscard]] inline FileCompression CompactedWith(const TableDescriptor& table, bool major) {
  return CompressionFor(table, major ? FileUse::kMajorCompaction : FileUse::kMinorCompaction);
}

// Returns the most that a compaction of `inputs` may write: no more cells than the inputs have, in blocks that may be
// filled differently. Inputs with another compression may expand to their uncompressed size.
[[nodiscard]] std::uint64_t MostWritten(const ReadableFiles& inputs, FileCompression compression);

// Writes the cells that the rules keep, one by one and as stored; makes no file when no cell is left. Major: keeps the
// cells that a reader could still see, and markers only if deleted cells are kept. Minor: drops only exact duplicates.
class CompactionWriter {
 public:
  // `room` is the disk space reserved for the output; null: there is enough.
  CompactionWriter(const StoreFiles& store_files, const OpeningRules& opening, DiskRoom::Share* room, std::string name,
                   bool major)
      : store_files_(store_files),
        opening_(opening),
        room_(room),
        name_(std::move(name)),
        major_(major),
        now_ms_(opening.params.clock->WallMillis()) {}

  [[nodiscard]] Status Add(std::string_view key, std::string_view value);
  [[nodiscard]] Result<std::vector<StoreFileInfo>> Finish();

 private:
  // Markers hide no cells here, because deleted cells are kept.
  static constexpr TimeRange kNoMarkers{0, 0};

  [[nodiscard]] bool IsKept(std::string_view key);
  [[nodiscard]] Status Keep(std::string_view key, std::string_view value);

  const StoreFiles& store_files_;
  const OpeningRules& opening_;
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

}  // namespace ratchet::regionserver
