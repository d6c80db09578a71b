#include "regionserver/store/recovered_edits.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "common/base/mutant.h"
#include "common/io/record_log.h"
#include "regionserver/wal/log_splitter.h"

namespace ratchet::regionserver {

namespace {

// Checks that a file of recovered edits has the end record that its begin record requires.
class EditsFrame {
 public:
  // Returns true for a begin or end record, which is not an entry.
  bool Take(const io::Record& record) {
    if (record.type == kEditsBeginRecordType && record.offset == io::kLogHeaderSize) return begun_ = true;
    if (record.type != kEditsEndRecordType || !begun_ || ended_) return false;
    return ended_ = true;
  }
  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] bool cut() const { return begun_ && !ended_ && !RATCHET_MUTANT("region.take_cut_edits"); }

 private:
  bool begun_ = false;
  bool ended_ = false;
};

}  // namespace

Status ReadEdits(io::Directory& directory, const std::string& region, const std::string& name,
                 const EditConsumer& take) {
  RATCHET_ASSIGN(const std::unique_ptr<io::ReadableFile> file, directory.OpenForRead(name));
  io::RecordReader::Options options;
  options.expected = {kRecoveredEditsKind, io::LogFileId(region + "/" + name)};
  RATCHET_ASSIGN(options.sealed_length, file->size());
  io::RecordReader reader(*file, options.sealed_length, options);
  io::Record record;
  EditsFrame frame;
  while (reader.Next(&record)) {
    if (frame.Take(record)) continue;
    // S56 (falling sequences are replayed): of a line that the manifests do not know
    const bool uncovered = record.type == kUncoveredEntryRecordType;
    if (frame.ended() || (record.type != kEntryRecordType && !uncovered) || record.version != kEntryVersion)
      return Error(Code::kCorruption, fmt::format("{}/{}: record of unknown type {} version {} at offset {}",
                                                  directory.path(), name, record.type, record.version, record.offset));
    RATCHET_ASSIGN(const LogEntry entry, DecodeLogEntry(record.payload));
    if (entry.region != region)
      return Error(Code::kCorruption,
                   fmt::format("{}/{} holds an entry of region {}", directory.path(), name, entry.region));
    take(entry, uncovered);
  }
  if (!reader.status().ok()) return reader.status().error().Annotate(name);
  if (reader.tail().end != io::LogEnd::kClean)
    return Error(Code::kCorruption, fmt::format("{}/{} is damaged at offset {}: {}", directory.path(), name,
                                                reader.tail().offset, reader.tail().reason));
  if (reader.tail().last_sequence == 0 && !RATCHET_MUTANT("region.take_empty_edits"))
    return Error(Code::kCorruption,
                 fmt::format("{}/{} is empty: no splitter publishes a file without entries", directory.path(), name));
  if (frame.cut())
    return Error(Code::kCorruption, fmt::format("{}/{} was cut at offset {}: its last record is missing",
                                                directory.path(), name, reader.tail().offset));
  return Ok();
}

Result<std::uint64_t> FirstUncovered(io::Directory& directory, const std::string& region, const ManifestState& state,
                                     const std::vector<std::string>& names) {
  std::uint64_t first = UINT64_MAX;
  for (const std::string& name : names) {
    if (!name.starts_with(kEditsPrefix) || state.consumed_edits.contains(name)) continue;
    RATCHET_TRY(ReadEdits(directory, region, name, [&](const LogEntry& entry, bool uncovered) {
      if (uncovered || entry.sequence > state.flushed_sequence) first = std::min(first, entry.sequence);
    }));
  }
  return first;
}

}  // namespace ratchet::regionserver
