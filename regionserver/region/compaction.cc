#include "regionserver/region/compaction.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "common/base/mutant.h"
#include "regionserver/region/file_settings.h"

namespace ratchet::regionserver {
namespace {

constexpr std::size_t kMostFilesAtOnce = 10;
constexpr std::uint64_t kSmallFile = 1U << 20;  // smaller files count as equal in size
constexpr std::uint64_t kMostWhole = 64U << 20;

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

}  // namespace

ReadableFiles ChooseTier(ReadableFiles files, const OpenParams& params) {
  const std::size_t least = LeastFiles(params);
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

bool ShouldCompactWhole(const ReadableFiles& files, const OpenParams& params) {
  if (!params.info.table.IsSystem() || files.size() < LeastFiles(params)) return false;
  std::uint64_t bytes = 0;
  for (const auto& file : files) bytes += file->info().bytes;
  return bytes <= kMostWhole && !RATCHET_MUTANT("region.keep_dead_rows_of_meta");
}

std::uint64_t MostWritten(const ReadableFiles& inputs, FileCompression compression) {
  std::uint64_t bytes = 0;
  for (const auto& file : inputs) {
    const bool alike = file->compression() == CompressionName(compression);
    bytes += alike ? file->info().bytes : std::max(file->info().bytes, file->raw_bytes());
  }
  return bytes + bytes / 16;
}

Status CompactionWriter::Add(std::string_view key, std::string_view value) {
  RATCHET_ASSIGN(const CellDecoder::Change change, decoder_.DecodeKey(key));
  RATCHET_TRY(decoder_.DecodeValue(value));
  const CellView& cell = decoder_.cell();
  if (change >= CellDecoder::Change::kFamily) {
    rules_ = opening_.RulesFor(cell.family);
    if (rules_ != nullptr) puts_.Begin(*rules_, now_ms_, kNoMarkers);
  } else if (change == CellDecoder::Change::kColumn) {
    puts_.BeginColumn();
  }
  // A family that this opening does not know was dropped if the order named its descriptor (S49: re-added family is
  // new). Otherwise the family's cells are kept unchanged, because the next opening may know its rules (S54: no
  // schema, no change).
  const bool dropped = opening_.params.schema_number != 0 || RATCHET_MUTANT("region.drop_unknown_families");
  if (rules_ == nullptr) return dropped ? Ok() : Keep(key, value);
  return IsKept(key) ? Keep(key, value) : Ok();
}

Result<std::vector<StoreFileInfo>> CompactionWriter::Finish() {
  std::vector<StoreFileInfo> files;
  if (!writer_) return files;
  RATCHET_ASSIGN(StoreFileInfo file, writer_->Finish());
  if (major_) file.major_ms = now_ms_;
  files.push_back(std::move(file));
  return files;
}

bool CompactionWriter::IsKept(std::string_view key) {
  if (!major_) return WithoutSequence(key) != last_kept_;
  const CellView& cell = decoder_.cell();
  if (puts_.Exists(cell.type, cell.timestamp, decoder_.ttl_ms())) return true;
  return cell.type != CellType::kPut && puts_.KeepsMarker(cell.type, cell.timestamp) &&
         WithoutSequence(key) != last_kept_;
}

Status CompactionWriter::Keep(std::string_view key, std::string_view value) {
  last_kept_ = WithoutSequence(key);
  if (!writer_) {
    const TableDescriptor& table = *opening_.params.table;
    RATCHET_ASSIGN(writer_, store_files_.Create(name_, CompactedWith(table, major_), FilterFor(table)));
  }
  RATCHET_TRY(writer_->Add(key, value));
  unchecked_ += key.size() + value.size();
  if (room_ == nullptr || unchecked_ < DiskRoom::kStep) return Ok();
  return room_->Wrote(std::exchange(unchecked_, 0));
}

}  // namespace ratchet::regionserver
