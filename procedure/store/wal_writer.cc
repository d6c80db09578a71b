#include "procedure/store/wal_writer.h"

#include <algorithm>

#include "common/base/check.h"
#include "common/base/fault_point.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/io/fatal.h"
#include "procedure/api/wal_store.h"

namespace ratchet::procedure {

namespace {

constexpr std::uint64_t kPiece = 1U << 20;

}  // namespace

Status SpareSegments::Adopt(Epoch epoch) {
  epoch_ = epoch;
  if (options_.count == 0) return Ok();
  RATCHET_ASSIGN(const auto names, directory_.List());
  for (const std::string& name : names) {
    if (const auto id = ParseNumberedName(kSparePrefix, name)) {
      MutexLock lock(mutex_);
      spares_.insert(*id);
    }
  }
  return Ok();
}

Result<std::optional<SpareSegments::Taken>> SpareSegments::Take(SegmentId as) {
  for (;;) {
    SegmentId spare;
    {
      MutexLock lock(mutex_);
      if (spares_.empty()) return std::optional<Taken>();
      spare = *spares_.begin();
      spares_.erase(spares_.begin());
    }
    const Status renamed = directory_.Rename(NumberedName(kSparePrefix, spare), SegmentName(as));
    if (!renamed.ok()) {
      if (renamed.error().code() == Code::kNotFound) continue;  // another process took it first
      return renamed.error();
    }
    RATCHET_ASSIGN(auto reader, directory_.OpenForRead(SegmentName(as)));
    RATCHET_ASSIGN(const std::uint64_t capacity, reader->size());
    RATCHET_ASSIGN(auto file, directory_.OpenForWrite(SegmentName(as)));
    return std::optional<Taken>(Taken{std::move(file), capacity});
  }
}

Result<bool> SpareSegments::Refill(const std::atomic<bool>& stop) {
  if (available() >= options_.count) return false;
  const SegmentId id{epoch_, next_number_++};
  const std::string filling = NumberedName(kFillingPrefix, id);
  const Status filled = Fill(filling, stop);
  if (!filled.ok()) {
    IgnoreResult(directory_.Unlink(filling), "unfinished files of an earlier epoch are removed by the next owner");
    low_on_space_.store(filled.error().code() == Code::kNoSpace, std::memory_order_relaxed);
    return filled.error();
  }
  RATCHET_TRY(directory_.Rename(filling, NumberedName(kSparePrefix, id)));
  low_on_space_.store(false, std::memory_order_relaxed);
  MutexLock lock(mutex_);
  spares_.insert(id);
  return true;
}

Status SpareSegments::Fill(const std::string& name, const std::atomic<bool>& stop) {
  RATCHET_ASSIGN(auto file, directory_.Create(name));
  for (std::uint64_t done = 0; done < options_.bytes;) {
    if (stop.load(std::memory_order_relaxed)) return Error(Code::kAborted, "stopped while filling " + name);
    done = std::min(options_.bytes, done + kPiece);
    RATCHET_TRY(file->ZeroFill(done));
    // Only speed depends on this sync, so a failure does not end the process: the spare is deleted.
    RATCHET_TRY(file->Sync());
  }
  return file->Close();
}

std::size_t SpareSegments::available() const {
  MutexLock lock(mutex_);
  return spares_.size();
}

namespace {

constexpr std::uint64_t kFrameOverhead = 4096;       // frame and record header, start, low-water record
constexpr std::uint64_t kGrowth = 256U << 10;        // a segment without a spare grows in pieces of this size
constexpr std::uint64_t kReadToTheEnd = UINT64_MAX;  // mutants only: a chain entry that seals nothing

std::uint64_t SizeOf(const StoreBatch& batch) {
  std::uint64_t size = kRecordOverhead * (1 + batch.upserts.size() + batch.deletes.size() + batch.system_puts.size() +
                                          batch.system_deletes.size());
  for (const ProcedureUpsert& upsert : batch.upserts) size += upsert.bytes.size();
  for (const SystemPut& put : batch.system_puts) size += put.key.size() + put.value.size();
  for (const std::string& key : batch.system_deletes) size += key.size();
  return size;
}

}  // namespace

Result<std::vector<ProcedureUpsert>> ReadStragglers(io::Directory& directory, const RewriteRequest& request) {
  RATCHET_ASSIGN(const SegmentFile file, SegmentFile::Open(directory, request.id));
  io::RecordReader reader = file.Records(request.length);
  PidTable newest;
  std::vector<ProcedureUpsert> found;
  io::Record record;
  while (reader.Next(&record)) {
    FrameParser parser(record.payload);
    FrameEntry entry;
    while (parser.Next(&entry)) {
      if (!IsRecord(entry.kind) || !request.pids.contains(entry.pid.value())) continue;
      PidTable::Entry& slot = newest.Put(entry.pid);
      if (slot.version == 0) {
        slot.place = static_cast<std::uint32_t>(found.size());
        found.emplace_back();
      }
      slot.version = entry.version;
      found[slot.place] = {entry.pid, entry.version, std::string(entry.bytes)};
    }
  }
  RATCHET_TRY(file.CheckRead(reader));
  if (reader.tail().end == io::LogEnd::kClean) return found;
  return Error(Code::kCorruption,
               fmt::format("{} at offset {}: {}", SegmentName(request.id), reader.tail().offset, reader.tail().reason));
}

WalWriter::WalWriter(io::Directory& directory, const Clock& clock, SpareSegments& spares, Options options,
                     std::function<Status()> check)
    : directory_(directory), clock_(clock), spares_(spares), options_(std::move(options)), check_(std::move(check)) {}

Result<WalWriter::NewSegment> WalWriter::MakeSegment(SegmentId id) {
  RATCHET_ASSIGN(auto spare, spares_.Take(id));
  NewSegment made;
  if (spare) {
    made = {std::move(spare->file), spare->capacity};
  } else {
    RATCHET_ASSIGN(made.file, directory_.Create(SegmentName(id)));
  }
  // The name is durable before anything in the file is relied upon.
  const Status synced = directory_.Sync();
  if (!io::DieOnFailedSync(synced, "sync of the procedure store's directory")) return synced.error();
  return made;
}

void WalWriter::UseSegment(SegmentId id, NewSegment made) {
  log_ = std::make_unique<io::RecordWriter>(std::move(made.file), SegmentIdentity(id));
  capacity_ = made.capacity;
  began_ = clock_.Now();
  needs_start_ = true;
  tracker_.Begin(id);
}

Status WalWriter::Seal(Epoch epoch, const StoreContents& contents) {
  epoch_ = epoch;
  max_pid_ = contents.max_pid;
  last_sequence_ = contents.last_sequence;
  tracker_.Load(contents, RATCHET_MUTANT("store.no_copy"));
  const SegmentId first{epoch, 1};
  RATCHET_ASSIGN(auto made, MakeSegment(first));
  UseSegment(first, std::move(made));
  FrameBuilder frame(log_->Begin(), clock_.WallMillis());
  EncodeStart(frame, &contents);
  frame.Batch(last_sequence_);
  counters_.records += EncodeCopies(frame, contents);
  RATCHET_TRY(log_->End(kFrameRecord, kFrameVersion, last_sequence_));
  if (!MakeRoom(0)) return Error(Code::kNoSpace, "no space for the seal of the procedure store");
  switch (SyncAndCheck()) {
    case Outcome::kWritten: break;
    case Outcome::kFenced: return *fence_reason_;
    case Outcome::kNoSpace:
    case Outcome::kDead: return Error(Code::kIo, "the seal of the procedure store could not be made durable");
  }
  return HitFault("store.sealed");
}

void WalWriter::EncodeStart(FrameBuilder& frame, const StoreContents* sealed) {
  SegmentStart start;
  start.id = tracker_.newest().entry.id;
  start.max_pid = max_pid_;
  start.chain = tracker_.Chain();
  start.low_water = tracker_.oldest().entry.id;
  start.owner = options_.owner;
  if (sealed != nullptr && sealed->has_head) {
    start.low_water = sealed->chain.front().id;
    if (!RATCHET_MUTANT("store.no_copy")) {
      start.chain.push_back(sealed->chain.back());
      start.chain.back().copied = true;
    }
    if (RATCHET_MUTANT("store.no_seal")) {
      for (ChainEntry& entry : start.chain) entry.length = kReadToTheEnd, entry.copied = false;
    }
  }
  frame.Start(start);
}

// S8 (act only on durable records): records that were live in the segment that was open may not be durable there,
// tombstones included.
std::uint64_t WalWriter::EncodeCopies(FrameBuilder& frame, const StoreContents& contents) {
  if (!contents.has_head || RATCHET_MUTANT("store.no_copy")) return 0;
  const auto head = static_cast<std::uint32_t>(contents.chain.size() - 1);
  std::uint64_t copied = 0;
  for (const LoadedRecord& loaded : contents.records) {
    if (!loaded.record.pid.valid() || loaded.segment != head) continue;
    frame.Copy(loaded.record.pid, loaded.record.version, loaded.record.bytes);
    tracker_.Upsert(loaded.record.pid, loaded.record.version, loaded.record.bytes.size());
    ++copied;
  }
  for (const auto& [key, loaded] : contents.system) {
    if (loaded.segment != head) continue;
    frame.SystemPut(key, loaded.value);
    tracker_.PutSystem(key, loaded.value);
    ++copied;
  }
  for (const ProcId pid : contents.head_deletes) {
    frame.Delete(pid);
    tracker_.Delete(pid);
  }
  for (const std::string& key : contents.head_system_deletes) frame.SystemDelete(key);
  return copied;
}

WalWriter::Outcome WalWriter::Write(std::span<PendingCommit> group) {
  std::uint64_t bytes = kFrameOverhead + options_.rewrite_bytes * (stragglers_.empty() ? 0 : 1);
  for (const PendingCommit& commit : group) bytes += SizeOf(commit.batch);
  const Outcome rolled = RollIfDue(bytes);
  if (rolled != Outcome::kWritten) return rolled;

  FrameBuilder frame(log_->Begin(), clock_.WallMillis());
  if (needs_start_) EncodeStart(frame, nullptr);
  const std::uint64_t written = EncodeGroup(frame, group) + EncodeOwnWork(frame);
  if (written == 0) {  // all were refused: there is nothing to make durable
    log_->Abandon();
    return Outcome::kWritten;
  }
  const Status ended = log_->End(kFrameRecord, kFrameVersion, last_sequence_);
  RATCHET_CHECK(ended.ok(), "frame of {} bytes: {}", bytes, ended.error().ToString());
  return SyncAndCheck();
}

std::uint64_t WalWriter::EncodeGroup(FrameBuilder& frame, std::span<PendingCommit> group) {
  std::uint64_t written = 0;
  for (PendingCommit& commit : group) {
    last_sequence_ = std::max(last_sequence_, commit.sequence);
    const Status judged = RATCHET_MUTANT("store.any_version") ? Ok() : tracker_.Judge(commit.batch);
    if (!judged.ok()) {
      commit.refused = judged.error();
      continue;
    }
    EncodeBatch(frame, commit);
    ++written;
  }
  counters_.batches += written;
  return written;
}

void WalWriter::EncodeBatch(FrameBuilder& frame, const PendingCommit& commit) {
  const StoreBatch& batch = commit.batch;
  frame.Batch(commit.sequence);
  for (const ProcedureUpsert& upsert : batch.upserts) {
    frame.Upsert(upsert.pid, upsert.version, upsert.bytes);
    tracker_.Upsert(upsert.pid, upsert.version, upsert.bytes.size());
    max_pid_ = std::max(max_pid_, upsert.pid);
  }
  for (const ProcId pid : batch.deletes) {
    frame.Delete(pid);
    tracker_.Delete(pid);
  }
  for (const SystemPut& put : batch.system_puts) {
    frame.SystemPut(put.key, put.value);
    tracker_.PutSystem(put.key, put.value);
  }
  for (const std::string& key : batch.system_deletes) {
    frame.SystemDelete(key);
    tracker_.DeleteSystem(key);
  }
  counters_.records +=
      batch.upserts.size() + batch.deletes.size() + batch.system_puts.size() + batch.system_deletes.size();
}

// Rewrites stragglers, so that the oldest segment dies, and adds the low-water record, S10 (low-water record before
// removal).
std::uint64_t WalWriter::EncodeOwnWork(FrameBuilder& frame) {
  std::uint64_t written = 0;
  std::uint64_t bytes = 0;
  while (!stragglers_.empty() && bytes < options_.rewrite_bytes) {
    const ProcedureUpsert& straggler = stragglers_.front();
    if (tracker_.IsStraggler(straggler.pid, straggler.version)) {  // not overtaken by a newer record meanwhile
      frame.Rewrite(straggler.pid, straggler.version, straggler.bytes);
      tracker_.Upsert(straggler.pid, straggler.version, straggler.bytes.size());
      bytes += straggler.bytes.size() + kRecordOverhead;
      ++written;
      ++counters_.rewritten_records;
    }
    stragglers_.pop_front();
  }
  if (rewrite_requested_ && stragglers_.empty()) {
    while (const auto put = tracker_.StragglingSystemRecord()) {
      frame.SystemPut(put->key, put->value);
      tracker_.PutSystem(put->key, put->value);
      ++written;
    }
  }
  const SegmentId oldest = tracker_.oldest().entry.id;
  if (tracker_.DropDeadSegments()) {
    if (RATCHET_MUTANT("store.unlink_before_low_water")) {
      IgnoreResult(directory_.Unlink(SegmentName(oldest)), "a mutant");
      return written;  // the log does not show it
    }
    frame.LowWater(tracker_.oldest().entry.id);
    rewrite_requested_ = false;
    stragglers_.clear();
    ++written;
  }
  return written;
}

bool WalWriter::HasOwnWork() const {
  if (!stragglers_.empty()) return true;
  if (tracker_.segment_count() < 2) return false;
  const Tracker::Segment& oldest = tracker_.oldest();
  return oldest.live.isEmpty() && (oldest.live_system == 0 || rewrite_requested_);
}

std::optional<RewriteRequest> WalWriter::ConsumeRewriteRequest() {
  // A rewrite frees space only if the segments contain enough garbage. This is certain only when there are more than
  // twice as many segments as the live records would fill. With a lower limit the same records would be rewritten
  // without end.
  const std::uint64_t needed = 2 * (tracker_.live_bytes() / options_.segment_bytes + 1);
  if (rewrite_requested_ || tracker_.segment_count() <= std::max(options_.max_segments, needed)) return std::nullopt;
  rewrite_requested_ = true;
  const Tracker::Segment& oldest = tracker_.oldest();
  return RewriteRequest{oldest.entry.id, oldest.entry.length, oldest.live};
}

void WalWriter::AddStragglers(std::vector<ProcedureUpsert> stragglers) {
  for (ProcedureUpsert& straggler : stragglers) stragglers_.push_back(std::move(straggler));
}

WalWriter::Outcome WalWriter::RollIfDue(std::uint64_t bytes) {
  const bool full = log_->end_offset() >= options_.segment_bytes;
  const bool old = clock_.Now() - began_ >= options_.segment_age && log_->end_offset() > io::kLogHeaderSize;
  if ((full || old) && !needs_start_) {
    const Outcome rolled = Roll();
    // On a full disk the open segment may still have room.
    if (rolled != Outcome::kWritten && rolled != Outcome::kNoSpace) return rolled;
  }
  if (MakeRoom(bytes)) return Outcome::kWritten;
  if (needs_start_) return Outcome::kNoSpace;
  const Outcome rolled = Roll();  // into a spare, if there is one
  if (rolled != Outcome::kWritten) return rolled;
  return MakeRoom(bytes) ? Outcome::kWritten : Outcome::kNoSpace;
}

// Reserves space before anything is written: then a full disk is a wait, not a failed sync, S6 (failed sync ends the
// process).
bool WalWriter::MakeRoom(std::uint64_t bytes) {
  const std::uint64_t needed = log_->end_offset() + bytes;
  if (needed <= capacity_) return true;
  const std::uint64_t target = needed + std::min(kGrowth, options_.segment_bytes / 4);
  const Status grown = log_->file().Preallocate(target);
  if (!grown.ok()) {
    RATCHET_LOG(kWarn, "procedure store: {}", grown.error().ToString());
    return false;
  }
  capacity_ = target;
  return true;
}

WalWriter::Outcome WalWriter::Roll() {
  SegmentId id = tracker_.newest().entry.id;
  ++id.number;
  auto made = MakeSegment(id);
  if (!made.ok()) {
    RATCHET_LOG(kWarn, "procedure store: cannot roll: {}", made.error().ToString());
    return made.error().code() == Code::kNoSpace ? Outcome::kNoSpace : LeaveForGood(made.error());
  }
  const std::uint64_t length = log_->end_offset();  // without the summary: the segment is complete without it
  // Not synced: everything acknowledged is synced already, and the start of the next segment records how long this one
  // is.
  if (EncodeSummary() && !io::DieOnFailedSync(log_->Flush(), "write of the procedure store")) return Outcome::kDead;
  tracker_.CloseNewest(length, last_sequence_);
  UseSegment(id, std::move(made).value());
  ++counters_.rolls;
  return Outcome::kWritten;
}

// A successor removes files that it does not need, also the one that its predecessor is just making: then this is a
// fence like any other. The owner ends, because its commits would wait without end and a standby may be able to
// continue.
WalWriter::Outcome WalWriter::LeaveForGood(const Error& why) {
  if (const Status checked = check_(); !checked.ok()) {
    fence_reason_ = checked.error();
    return Outcome::kFenced;
  }
  static_cast<void>(io::DieOnFailedSync(why, "a new segment of the procedure store"));  // returns in tests only
  return Outcome::kDead;
}

// Returns false if there is no room for a summary, which is not required.
bool WalWriter::EncodeSummary() {
  const Tracker::Segment& newest = tracker_.newest();
  const SegmentSummary summary{newest.upserts, newest.deletes, tracker_.NewestSummaryPids()};
  if (needs_start_ || !MakeRoom(summary.pids.size() + kFrameOverhead)) return false;
  FrameBuilder(log_->Begin(), clock_.WallMillis()).Summary(summary);
  const Status ended = log_->End(kFrameRecord, kFrameVersion, last_sequence_);
  RATCHET_CHECK(ended.ok(), "summary: {}", ended.error().ToString());
  return true;
}

void WalWriter::Close() {
  if (log_ != nullptr && EncodeSummary()) {
    IgnoreResult(log_->Sync(), "all that was acknowledged is durable; the summary is only a cross-check");
  }
  log_ = nullptr;
}

// S6. A write that fails is as bad: part of it may be in the file, and a later sync would have to cover it.
bool WalWriter::SyncOrDie() {
  constexpr std::string_view kWhat = "sync of the procedure store";
  if (!io::DieOnFailedSync(HitFault("store.before_write"), kWhat)) return false;
  const std::uint64_t before = log_->durable_offset();
  if (!io::DieOnFailedSync(log_->Flush(), "write of the procedure store")) return false;
  if (!io::DieOnFailedSync(HitFault("store.before_sync"), kWhat)) return false;
  const TimePoint began = clock_.Now();
  Status synced = log_->Sync();
  if (!synced.ok() && RATCHET_MUTANT("store.survive_failed_sync")) synced = log_->Sync();
  if (!io::DieOnFailedSync(synced, kWhat)) return false;
  StoreSyncTimes().Note(clock_.Now() - began);
  ++counters_.syncs;
  counters_.bytes_written += log_->durable_offset() - before;
  return true;
}

// S1 (check after sync): append, sync, CHECK. Only what has passed here may be completed, published or acted on.
WalWriter::Outcome WalWriter::SyncAndCheck() {
  Status checked;
  if (RATCHET_MUTANT("store.check_before_sync")) checked = check_();
  if (!SyncOrDie()) return Outcome::kDead;
  needs_start_ = false;
  if (!io::DieOnFailedSync(HitFault("store.before_check"), "CHECK of the procedure store")) return Outcome::kDead;
  if (!RATCHET_MUTANT("store.check_before_sync")) checked = check_();
  if (!checked.ok()) {
    fence_reason_ = checked.error();
    return Outcome::kFenced;
  }
  durable_low_water_ = tracker_.oldest().entry.id;
  checked_sequence_ = last_sequence_;
  return Outcome::kWritten;
}

}  // namespace ratchet::procedure
