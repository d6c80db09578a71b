#include "procedure/store/store_reader.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/base/mutant.h"
#include "common/io/torn_write.h"
#include "procedure/api/offline_store.h"
#include "procedure/store/replay.h"

namespace ratchet::procedure {
namespace {

class Reader {
 public:
  Reader(io::Directory& directory, const ReadOptions& options)
      : directory_(directory), options_(options), replay_(contents_, options.order) {}

  Result<StoreContents> Run() {
    RATCHET_ASSIGN(const auto names, directory_.List());
    for (const std::string& name : names) {
      const auto id = ParseNumberedName(kSegmentPrefix, name);
      if (!id || (options_.below.valid() && id->epoch >= options_.below)) continue;
      listed_.insert(*id);
    }
    RATCHET_TRY(FindHead());
    if (!stopped_ && contents_.has_head) RATCHET_TRY(ReadChain());
    if (!stopped_ && contents_.has_head) RATCHET_TRY(ReadHead());
    replay_.Finish();
    return std::move(contents_);
  }

 private:
  bool LeftOut(SegmentId id) const { return options_.leave_out.contains(SegmentName(id)); }

  void Damage(SegmentId id, std::uint64_t offset, std::string reason, DamageKind kind = DamageKind::kBytes) {
    const std::string name = SegmentName(id);
    const bool known = std::any_of(contents_.damage.begin(), contents_.damage.end(), [&](const StoreDamage& other) {
      return other.file == name && other.offset == offset && other.reason == reason;
    });
    if (!known) contents_.damage.push_back({name, offset, std::move(reason), kind});  // a head's start is read twice
    if (options_.on_damage == OnDamage::kStop) stopped_ = true;
  }

  // Newest first. A segment without a valid start belongs to a legal, empty owner, S7 (seal before acting), or is an
  // unfinished roll.
  Status FindHead() {
    for (auto id = listed_.rbegin(); id != listed_.rend() && !stopped_; ++id) {
      if (LeftOut(*id)) continue;
      RATCHET_ASSIGN(SegmentFile file, SegmentFile::Open(directory_, *id));
      io::RecordReader reader = file.Records();
      io::Record record;
      if (!reader.Next(&record)) {
        RATCHET_TRY(file.CheckRead(reader));
        if (reader.tail().end == io::LogEnd::kDamage) {
          Damage(*id, reader.tail().offset, reader.tail().reason);
          if (options_.on_damage != OnDamage::kSkip || !reader.SkipDamage()) continue;
          // Repair: the start is lost, but the records are not; reads the segment as if every older one counted.
          start_ = Assumed(*id);
        } else {
          contents_.notes.push_back(SegmentName(*id) + " is empty: its owner ended before it wrote");
          continue;
        }
      } else if (!StartOf(record, *id)) {
        Damage(*id, record.offset, "the segment does not begin with a start entry");
        if (options_.on_damage != OnDamage::kSkip) continue;
        start_ = Assumed(*id);
      }
      head_ = std::move(file);
      contents_.has_head = true;
      return Ok();
    }
    return Ok();
  }

  bool StartOf(const io::Record& record, SegmentId id) {
    FrameParser parser(record.payload);
    FrameEntry entry;
    if (record.type != kFrameRecord || record.version != kFrameVersion) return false;
    if (!parser.Next(&entry) || entry.kind != EntryKind::kStart || entry.start.id != id) return false;
    start_ = std::move(entry.start);
    return true;
  }

  SegmentStart Assumed(SegmentId id) const {
    SegmentStart start;
    start.id = id;
    for (const SegmentId older : listed_) {
      if (older < id) start.chain.push_back({older, UINT64_MAX, 0, false});
    }
    return start;
  }

  // The low-water mark may have risen since the head was begun (S10: low-water record before removal). If the head ends
  // with a record that is bad and whole, the head is read again, S81 (whole bad record is damage). A deposed owner may
  // have been in the middle of copying its last append, and the sync in between waits for that.
  Status FindLowWater() {
    contents_.low_water = start_.low_water;
    io::RecordReader reader = head_.Records();
    io::Record record;
    while (reader.Next(&record)) {
      FrameParser parser(record.payload);
      FrameEntry entry;
      while (parser.Next(&entry)) {
        if (entry.kind == EntryKind::kLowWater) contents_.low_water = std::max(contents_.low_water, entry.segment);
      }
    }
    RATCHET_TRY(head_.CheckRead(reader));
    io::LogBytes bytes = head_.Bytes();
    if (reader.tail().end != io::LogEnd::kTorn || !io::WasWrittenWhole(bytes, reader.tail().offset)) return Ok();
    if (RATCHET_MUTANT("log.any_tail")) return Ok();
    if (std::exchange(head_read_again_, true)) {
      head_damaged_at_ = reader.tail().offset;
      return Ok();
    }
    if (options_.sync) RATCHET_TRY(directory_.SyncFile(SegmentName(head_.id())));
    RATCHET_ASSIGN(head_, SegmentFile::Open(directory_, head_.id()));
    return FindLowWater();
  }

  Status ReadChain() {
    RATCHET_TRY(FindLowWater());
    for (const ChainEntry& link : start_.chain) {
      if (stopped_ || link.copied || link.id < contents_.low_water || LeftOut(link.id)) continue;
      if (!listed_.contains(link.id)) {
        Damage(link.id, 0, "the segment is missing: " + SegmentName(start_.id) + " names it");
        continue;
      }
      RATCHET_ASSIGN(const SegmentFile file, SegmentFile::Open(directory_, link.id));
      contents_.chain.push_back(link);
      RATCHET_TRY(ReadRecords(file, link.length, false));
      RATCHET_TRY(SyncAfterReading(link.id));
    }
    return Ok();
  }

  Status ReadHead() {
    contents_.chain.push_back({head_.id(), 0, 0, false});
    RATCHET_ASSIGN(const io::LogTail tail, ReadRecords(head_, UINT64_MAX, true));
    ChainEntry& head = contents_.chain.back();
    head.length = tail.offset;
    head.last_sequence = tail.last_sequence;
    if (tail.end == io::LogEnd::kTorn && tail.offset == head_damaged_at_) {
      Damage(head_.id(), tail.offset, tail.reason + ", although the record was written to its end");
      if (stopped_) return Ok();
    } else if (tail.end == io::LogEnd::kTorn) {
      contents_.notes.push_back(fmt::format("{}: a torn tail is cut at offset {} ({}); nothing in it was acknowledged",
                                            SegmentName(head_.id()), tail.offset, tail.reason));
    }
    return SyncAfterReading(head_.id());
  }

  // After the reading, so that the sync covers every byte that was read, S8 (act only on durable records).
  Status SyncAfterReading(SegmentId id) {
    if (!options_.sync || stopped_ || RATCHET_MUTANT("store.no_segment_sync")) return Ok();
    return directory_.SyncFile(SegmentName(id));
  }

  Result<io::LogTail> ReadRecords(const SegmentFile& file, std::uint64_t length, bool in_head) {
    const SegmentId id = file.id();
    io::RecordReader reader = file.Records(length);
    const auto segment = static_cast<std::uint32_t>(contents_.chain.size() - 1);
    io::Record record;
    for (;;) {
      while (!stopped_ && reader.Next(&record)) ApplyFrame(id, record, segment, in_head);
      RATCHET_TRY(file.CheckRead(reader));
      if (stopped_ || reader.tail().end != io::LogEnd::kDamage) return reader.tail();
      Damage(id, reader.tail().offset, reader.tail().reason);
      if (options_.on_damage != OnDamage::kSkip || !reader.SkipDamage()) return reader.tail();
    }
  }

  void ApplyFrame(SegmentId id, const io::Record& record, std::uint32_t segment, bool in_head) {
    if (record.type != kFrameRecord || record.version != kFrameVersion) {
      Damage(id, record.offset,
             fmt::format("a record of type {} version {}, from a newer program?", record.type, record.version));
      return;
    }
    FrameParser parser(record.payload);
    FrameEntry entry;
    Refused why;
    while (parser.Next(&entry)) {
      if (replay_.Apply(entry, segment, in_head, &why)) continue;
      Damage(id, record.offset, why.reason, why.kind);
      if (stopped_) return;
    }
    if (!parser.ok()) Damage(id, record.offset, "a frame cannot be decoded although its checksum is good");
    contents_.last_sequence = std::max(contents_.last_sequence, record.sequence);
  }

  io::Directory& directory_;
  const ReadOptions& options_;
  StoreContents contents_;
  Replay replay_;
  std::set<SegmentId> listed_;
  SegmentFile head_;
  bool head_read_again_ = false;
  std::optional<std::uint64_t> head_damaged_at_;  // a last record that is bad and whole, also after a sync
  SegmentStart start_;
  bool stopped_ = false;
};

}  // namespace

std::string StoreDamage::ToString() const { return fmt::format("{} at offset {}: {}", file, offset, reason); }

Result<StoreContents> ReadStore(io::Directory& directory, const ReadOptions& options) {
  return Reader(directory, options).Run();
}

Result<OfflineStore> ReadOfflineStore(io::Directory& directory) {
  ReadOptions options;
  options.on_damage = OnDamage::kSkip;
  RATCHET_ASSIGN(StoreContents contents, ReadStore(directory, options));
  OfflineStore store;
  store.found = !contents.chain.empty();
  store.max_pid = contents.max_pid;
  store.last_sequence = contents.last_sequence;
  store.records.reserve(contents.index.size());
  for (LoadedRecord& loaded : contents.records) {
    if (loaded.record.pid.valid()) store.records.push_back(std::move(loaded.record));  // the others are deleted
  }
  std::sort(store.records.begin(), store.records.end(), [](const auto& a, const auto& b) { return a.pid < b.pid; });
  for (auto& [key, system] : contents.system) store.system_records.emplace(key, std::move(system.value));
  for (const StoreDamage& damage : contents.damage) store.damage.push_back(damage.ToString());
  return store;
}

Result<std::unique_ptr<io::Directory>> OpenStoreDirectory(const std::string& path) {
  RATCHET_ASSIGN(auto directory, io::PosixDisk().Open(path));
  RATCHET_ASSIGN(const bool is_root, directory->Exists("procedures"));
  if (!is_root) return directory;
  return directory->OpenDir("procedures");
}

}  // namespace ratchet::procedure
