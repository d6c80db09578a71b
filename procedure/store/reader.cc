#include "procedure/store/reader.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "common/base/mutant.h"
#include "common/io/record_log.h"
#include "common/io/torn_write.h"
#include "procedure/api/offline_store.h"

namespace ratchet::procedure {

namespace {

// Limits that leave room for later pids and versions, which must be positive numbers, S55 (checked input).
constexpr std::uint64_t kGreatest = 1ULL << 62;

}  // namespace

bool Replay::Apply(const FrameEntry& entry, std::uint32_t segment, bool in_head, Refused* why) {
  switch (entry.kind) {
    case EntryKind::kBatch:
      if (entry.sequence > kGreatest) {
        *why = {fmt::format("a batch of sequence {}, which no batch can have", entry.sequence), DamageKind::kBytes};
        return false;
      }
      contents_.last_sequence = std::max(contents_.last_sequence, entry.sequence);
      return true;
    case EntryKind::kUpsert:
    case EntryKind::kRewrite:
    case EntryKind::kCopy: return Upsert(entry, segment, in_head, why);
    case EntryKind::kDelete: return Delete(entry.pid, in_head, why);
    case EntryKind::kSystemPut:
      if (!in_head) system_in_older_.emplace(entry.key);
      contents_.system.insert_or_assign(std::string(entry.key), LoadedSystemRecord{std::string(entry.bytes), segment});
      return true;
    case EntryKind::kSystemDelete: {
      const auto found = contents_.system.find(entry.key);
      if (found != contents_.system.end()) contents_.system.erase(found);
      if (in_head) system_deleted_in_head_.emplace(entry.key);
      return true;
    }
    case EntryKind::kLowWater: return true;  // read beforehand
    case EntryKind::kStart:
      if (entry.start.max_pid.value() > kGreatest) {
        *why = {fmt::format("a segment that begins after pid {}, which no procedure can have", entry.start.max_pid),
                DamageKind::kBytes};
        return false;
      }
      contents_.max_pid = std::max(contents_.max_pid, entry.start.max_pid);
      return true;
    case EntryKind::kSummary: return true;
  }
  *why = {"an entry of an unknown kind", DamageKind::kBytes};
  return false;
}

// Returns true if the entry may follow `known`, the newest record of the same pid so far.
bool Replay::MayFollow(const FrameEntry& entry, const LoadedRecord& known) const {
  const std::uint64_t version = known.record.version;
  switch (entry.kind) {
    case EntryKind::kRewrite:
      if (entry.version == version) return entry.bytes == known.record.bytes;
      break;
    // The versions between are in the segment that was open, which is not read again. The rewriting of a straggler
    // whose older copy still exists is there too.
    case EntryKind::kCopy:
      if (entry.version == version) return entry.bytes == known.record.bytes;
      return entry.version > version;
    default:
      if (entry.version == version + 1) return true;
  }
  return order_ == RecordOrder::kGaps && entry.version > version;
}

bool Replay::Upsert(const FrameEntry& entry, std::uint32_t segment, bool in_head, Refused* why) {
  if (!in_head) in_older_.add(entry.pid.value());
  if (!entry.pid.valid() || entry.version == 0) {
    *why = {"a record without pid or version", DamageKind::kBytes};
    return false;
  }
  if (entry.pid.value() > kGreatest || entry.version > kGreatest) {
    *why = {fmt::format("version {} of pid {}, which no procedure can have", entry.version, entry.pid),
            DamageKind::kBytes};
    return false;
  }
  if (deleted_.contains(entry.pid.value())) {
    if (order_ == RecordOrder::kAny) return true;
    *why = {fmt::format("a record of pid {}, which was deleted before", entry.pid), DamageKind::kOrder};
    return false;
  }
  contents_.max_pid = std::max(contents_.max_pid, entry.pid);
  PidTable::Entry& known = contents_.index.Put(entry.pid);
  if (known.version == 0) {
    known = {entry.pid.value(), entry.version, static_cast<std::uint32_t>(contents_.records.size()), 0};
    contents_.records.push_back({{entry.pid, entry.version, std::string(entry.bytes)}, segment});
    return true;
  }
  LoadedRecord& loaded = contents_.records[known.place];
  const bool again = entry.version == known.version;
  if (!MayFollow(entry, loaded)) {
    if (order_ != RecordOrder::kAny) {
      *why = {fmt::format("version {} of pid {} after version {}", entry.version, entry.pid, known.version),
              DamageKind::kOrder};
      return false;
    }
    if (entry.version <= known.version) return true;
  }
  known.version = entry.version;
  loaded.record.version = entry.version;
  if (!again) loaded.record.bytes.assign(entry.bytes);
  loaded.segment = segment;
  return true;
}

bool Replay::Delete(ProcId pid, bool in_head, Refused* why) {
  if (pid.value() > kGreatest) {
    *why = {fmt::format("a tombstone of pid {}, which no procedure can have", pid), DamageKind::kBytes};
    return false;
  }
  contents_.max_pid = std::max(contents_.max_pid, pid);
  if (deleted_.contains(pid.value())) {
    // Only a claimer writes a tombstone a second time: it copies those of the segment that was open.
    return true;
  }
  const PidTable::Entry* known = contents_.index.Find(pid);
  if (known != nullptr) {
    contents_.records[known->place] = LoadedRecord{};
    contents_.index.Erase(pid);
  } else if (!pid.valid()) {
    *why = {"a tombstone without pid", DamageKind::kBytes};
    return false;
  }
  deleted_.add(pid.value());
  if (in_head) deleted_in_head_.push_back(pid);
  return true;
}

void Replay::Finish() {
  for (const ProcId pid : deleted_in_head_) {
    if (in_older_.contains(pid.value())) contents_.head_deletes.push_back(pid);
  }
  for (const std::string& key : system_deleted_in_head_) {
    if (!contents_.system.contains(key) && system_in_older_.contains(key)) contents_.head_system_deletes.push_back(key);
  }
}

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
    const bool whole = reader.tail().end == io::LogEnd::kTorn && io::WasWrittenWhole(bytes, reader.tail().offset);
    if (!whole || RATCHET_MUTANT("log.any_tail")) return Ok();
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

namespace {

constexpr std::uint64_t kCopiedAtOnce = 1U << 20;
// Larger than any segment: a copy of such a file could fill the disk that the cluster needs, and would add nothing to
// the file.
constexpr std::uint64_t kMostCopied = 2 * io::kMaxUnsyncedBytes;

// Reads both files piece by piece; returns false when `take` returns false.
template <class Take>
Result<bool> ForPieces(const io::ReadableFile& file, std::uint64_t size, Take take) {
  std::string piece;
  for (std::uint64_t at = 0; at < size; at += kCopiedAtOnce) {
    piece.resize(std::min(kCopiedAtOnce, size - at));
    RATCHET_ASSIGN(const std::size_t got, file.ReadAt(at, piece.data(), piece.size()));
    piece.resize(got);
    RATCHET_ASSIGN(const bool go_on, take(at, piece));
    if (!go_on) return false;
  }
  return true;
}

Result<bool> IsTheSame(const io::ReadableFile& file, std::uint64_t size, const io::ReadableFile& other) {
  RATCHET_ASSIGN(const std::uint64_t other_size, other.size());
  if (other_size != size) return false;
  return ForPieces(file, size, [&other](std::uint64_t at, const std::string& piece) -> Result<bool> {
    std::string there(piece.size(), '\0');
    RATCHET_ASSIGN(const std::size_t got, other.ReadAt(at, there.data(), there.size()));
    return got == piece.size() && there == piece;
  });
}

}  // namespace

Result<std::string> QuarantineCopy(io::Directory& from, const std::string& name, io::Directory& quarantine) {
  RATCHET_ASSIGN(const std::unique_ptr<io::ReadableFile> file, from.OpenForRead(name));
  RATCHET_ASSIGN(const std::uint64_t size, file->size());
  if (size > kMostCopied)
    return Error(Code::kResourceExhausted,
                 fmt::format("{} has {} bytes, at most {} are copied", name, size, kMostCopied));
  std::string copy = name;
  for (int i = 1;; ++i) {
    RATCHET_ASSIGN(const bool taken, quarantine.Exists(copy));
    if (!taken) break;
    RATCHET_ASSIGN(const std::unique_ptr<io::ReadableFile> earlier, quarantine.OpenForRead(copy));
    RATCHET_ASSIGN(const bool same, IsTheSame(*file, size, *earlier));
    if (same) return quarantine.path() + "/" + copy;  // a copy made at an earlier start
    copy = fmt::format("{}.{}", name, i);
  }
  // The copy gets its final name only when it is complete, so that no reader sees a part of it.
  const std::string unfinished = copy + ".tmp";
  const Status removed = quarantine.Unlink(unfinished);
  if (!removed.ok() && removed.error().code() != Code::kNotFound) return removed.error();
  RATCHET_ASSIGN(const std::unique_ptr<io::WritableFile> written, quarantine.Create(unfinished));
  Result<bool> copied = ForPieces(*file, size, [&written](std::uint64_t, const std::string& piece) -> Result<bool> {
    RATCHET_TRY(written->Append(piece));
    return true;
  });
  Status done = copied.ok() ? written->Sync() : Status(copied.error());
  if (done.ok()) done = written->Close();
  if (done.ok()) done = quarantine.Rename(unfinished, copy);
  if (done.ok()) done = quarantine.Sync();
  if (done.ok()) return quarantine.path() + "/" + copy;
  IgnoreResult(quarantine.Unlink(unfinished), "part of a copy");
  return done.error();
}

}  // namespace ratchet::procedure
