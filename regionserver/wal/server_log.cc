#include "regionserver/wal/server_log.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <set>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "common/base/clock.h"
#include "common/base/fault_point.h"
#include "common/base/gathering.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/base/mutex.h"
#include "common/base/thread_name.h"
#include "common/io/fatal.h"
#include "common/io/record_log.h"
#include "common/io/unneeded_files.h"
#include "regionserver/wal/log_file_maker.h"
#include "regionserver/wal/space_reserve.h"

namespace ratchet::regionserver {
namespace {

constexpr std::uint64_t kBatchBytes = 64ULL << 20;  // bytes per sync, except for a single larger entry
constexpr std::uint64_t kReserveStep = 1ULL << 20;  // written as zeros and synced while the batch waits
constexpr std::size_t kAnswersTogether = 64;        // gathered into one write of each connection
constexpr std::uint64_t kRecordOverhead = 64;       // more than a record's header and padding

struct Pending {
  std::string region;
  std::uint64_t sequence = 0;
  std::uint8_t version = kEntryVersion;
  std::string payload;
  Status fits;                      // an error: the log cannot take the entry, and answers with this error in its turn
  std::uint64_t computed_from = 0;  // see Append
  bool logs = true;                 // false: an answer without an entry
  std::shared_ptr<LogMember> member;
  std::function<void(Status)> done;
};

Error Ended() { return Error(Code::kAborted, "the log is closed"); }

// Other processes that read the file see only zeros after the last record.
void GiveBackSpace(io::RecordWriter& writer) {
  const Status trimmed = writer.file().Trim();
  if (!trimmed.ok()) RATCHET_LOG(kWarn, "cannot give back the unused space of a log: {}", trimmed.error().ToString());
}

}  // namespace

// `mutex` is never held while a callback or file work runs; `marking` is held while the mark is moved.
struct ServerLog::Impl {
  Impl(io::FencedDirectory& fenced_directory, ServerLogOptions the_options)
      : directory(fenced_directory),
        options(std::move(the_options)),
        maker(fenced_directory, options.prefix, options.roll_bytes, options.prepare_next) {}

  void Run();
  std::vector<Pending> DequeueBatch(bool* roll);
  void CommitBatch(std::vector<Pending>& batch);
  Status ReserveSpace(const std::vector<Pending>& batch);
  static bool RefuseDependents(std::vector<Pending>& batch);
  static void NoteRefused(const Pending& pending);
  bool Enqueue(Pending pending);
  Status Write(std::vector<Pending>& batch);
  Status SyncWriter();
  void Complete(std::vector<Pending>& batch, bool writes);
  void FailAll(std::vector<Pending>& batch, const Error& error);
  bool End();
  void BecomeFenced(const Error& error);
  void BecomeUnsure(const Error& error);
  Status OpenNextFile();
  std::uint64_t NewestCovered() const;
  Status MoveMark(std::uint64_t number) REQUIRES(marking);

  io::FencedDirectory& directory;
  const ServerLogOptions options;
  LogFileMaker maker;

  // Used by the writer thread only.
  std::unique_ptr<io::RecordWriter> writer;
  SpaceReserve space{0, kReserveStep};
  std::uint64_t roll_at = options.roll_bytes;
  std::uint64_t next_record = 1;  // record sequence; one numbering for all files of this log

  mutable Mutex mutex;
  CondVar work;      // an entry is queued, a roll is requested, or the log stops
  CondVar progress;  // queue shrank, a roll finished
  std::deque<Pending> queue GUARDED_BY(mutex);
  std::uint64_t queued_bytes GUARDED_BY(mutex) = 0;
  std::uint64_t rolls_wanted GUARDED_BY(mutex) = 0;
  std::uint64_t rolls_done GUARDED_BY(mutex) = 0;
  Status roll_result GUARDED_BY(mutex);
  bool stopping GUARDED_BY(mutex) = false;
  bool ended GUARDED_BY(mutex) = false;  // no entry is completed or written after this
  std::vector<FileInfo> files GUARDED_BY(mutex);
  std::uint64_t keep_from GUARDED_BY(mutex) = UINT64_MAX;
  Metrics metrics GUARDED_BY(mutex);
  Latency sync_time;

  Mutex marking;                                 // taken before `mutex`
  std::uint64_t marked GUARDED_BY(marking) = 0;  // files up to this number are marked as covered

  std::thread thread;
};

std::vector<Pending> ServerLog::Impl::DequeueBatch(bool* roll) {
  MutexLock lock(mutex);
  while (queue.empty() && rolls_wanted == rolls_done && !stopping) work.Wait(mutex);
  *roll = rolls_wanted > rolls_done;
  std::vector<Pending> batch;
  batch.reserve(queue.size());
  std::uint64_t bytes = 0;
  while (!queue.empty() && (batch.empty() || bytes + queue.front().payload.size() <= kBatchBytes)) {
    bytes += queue.front().payload.size();
    batch.push_back(std::move(queue.front()));
    queue.pop_front();
  }
  queued_bytes -= bytes;
  progress.NotifyAll();
  return batch;
}

void ServerLog::Impl::Run() {
  SetThreadName("log-write");
  for (;;) {
    bool roll = false;
    std::vector<Pending> batch = DequeueBatch(&roll);
    if (batch.empty() && !roll) break;  // stopping, and the queue is empty
    if (!batch.empty()) CommitBatch(batch);
    if (!roll && writer->end_offset() < roll_at) continue;
    const Status rolled = OpenNextFile();
    if (rolled.ok()) {
      roll_at = options.roll_bytes;
    } else {
      roll_at = writer->end_offset() + options.roll_bytes / 8;  // do not retry at every batch
      RATCHET_LOG(kWarn, "log roll failed, continuing in the old file: {}", rolled.error().ToString());
    }
    MutexLock lock(mutex);
    roll_result = rolled;
    rolls_done = rolls_wanted;
    progress.NotifyAll();
  }
}

// The new file's name is durable before this returns (S4: directory made once); the old one was synced by its last
// batch.
Status ServerLog::Impl::OpenNextFile() {
  RATCHET_TRY(HitFault("log.before_roll", options.prefix));
  RATCHET_ASSIGN(LogFileMaker::File file, maker.Take());
  if (writer) GiveBackSpace(*writer);
  writer = std::make_unique<io::RecordWriter>(std::move(file.file), io::LogIdentity{kServerLogKind, file.file_id});
  space = SpaceReserve(file.reserved, kReserveStep);
  MutexLock lock(mutex);
  if (!files.empty()) {
    files.back().closed = true;
    ++metrics.rolls;
  }
  files.push_back(FileInfo{file.name, file.number, 0, false, {}});
  return Ok();
}

Status ServerLog::Impl::ReserveSpace(const std::vector<Pending>& batch) {
  std::uint64_t end = writer->end_offset();
  for (const Pending& pending : batch) end += pending.payload.size() + kRecordOverhead;
  return space.Ensure(writer->file(), end);
}

void ServerLog::Impl::NoteRefused(const Pending& pending) {
  std::uint64_t& newest = pending.member->newest_refused_;
  newest = std::max(newest, pending.sequence);
}

// S126 (same fate as its source). Returns true if an entry is left to be written.
bool ServerLog::Impl::RefuseDependents(std::vector<Pending>& batch) {
  bool any = false;
  for (Pending& pending : batch) {
    const bool lacks_source = pending.computed_from != 0 && pending.computed_from <= pending.member->newest_refused_;
    if (pending.fits.ok() && lacks_source && !RATCHET_MUTANT("log.write_without_source"))
      pending.fits = Error(Code::kUnavailable, "an earlier write of the row, from which this one was computed, failed");
    if (!pending.fits.ok()) NoteRefused(pending);
    any = any || (pending.logs && pending.fits.ok());
  }
  return any;
}

Status ServerLog::Impl::Write(std::vector<Pending>& batch) {
  for (Pending& pending : batch)
    if (pending.logs && pending.fits.ok())
      RATCHET_TRY(writer->Add(kEntryRecordType, pending.version, next_record++, pending.payload));
  RATCHET_TRY(HitFault("log.before_write", options.prefix));
  return writer->Flush();
}

Status ServerLog::Impl::SyncWriter() {
  RATCHET_TRY(HitFault("log.before_sync", options.prefix));
  const TimePoint began = SystemClock().Now();
  const Status synced = writer->Sync();
  sync_time.Note(SystemClock().Now() - began);
  return synced;
}

void ServerLog::Impl::CommitBatch(std::vector<Pending>& batch) {
  bool already_ended = false;
  {
    MutexLock lock(mutex);
    already_ended = ended;
  }
  if (already_ended) return FailAll(batch, Ended());
  if (const Status space_left = ReserveSpace(batch); !space_left.ok()) return FailAll(batch, space_left.error());
  const bool writes = RefuseDependents(batch);
  Status fence = RATCHET_MUTANT("log.check_before_sync") ? directory.CheckAfterSync() : Ok();
  Status written = writes ? Write(batch) : Ok();
  if (writes && written.ok() && !RATCHET_MUTANT("log.no_sync")) written = SyncWriter();
  // A later sync would have to cover a write that failed half way, so a failed write counts as a failed sync (S6:
  // failed sync ends the process).
  if (!RATCHET_MUTANT("log.survive_failed_sync") && !io::DieOnFailedSync(written, "server log")) {
    MutexLock lock(mutex);
    ended = true;
    return;
  }
  // S1 (check after sync): the CHECK follows the sync of exactly the batch that it releases.
  if (!RATCHET_MUTANT("log.check_before_sync") && !RATCHET_MUTANT("log.no_check")) {
    IgnoreResult(HitFault("log.before_check", options.prefix), "this fault point only pauses or kills");
    fence = directory.CheckAfterSync();
  }
  if (!fence.ok()) {
    BecomeFenced(fence.error());
    return FailAll(batch, Error(Code::kAborted, fence.error().message()));
  }
  Complete(batch, writes);
}

void ServerLog::Impl::Complete(std::vector<Pending>& batch, bool writes) {
  {
    MutexLock lock(mutex);
    FileInfo& file = files.back();
    file.bytes = writer->end_offset();
    metrics.syncs += writes ? 1 : 0;
    for (const Pending& pending : batch) {
      if (!pending.logs || !pending.fits.ok()) continue;
      std::uint64_t& last = file.owed[pending.region];
      last = std::max(last, pending.sequence);
      ++metrics.entries;
      metrics.bytes += pending.payload.size();
    }
  }
  // S21 (numbered openings): one CHECK for each region touched.
  std::map<LogMember*, Status> openings;
  if (!RATCHET_MUTANT("log.no_opening_check")) {
    for (const Pending& pending : batch)
      if (!openings.contains(pending.member.get()))
        openings.emplace(pending.member.get(), pending.member->CheckOpening());
  }
  // S50 (give up only on proof): an error is not evidence of a higher opening. The entries stay in the log, which is
  // split before any of their regions opens again.
  for (const auto& [member, owner] : openings) {
    if (owner.ok() || owner.error().code() == Code::kFenced || RATCHET_MUTANT("log.give_up_when_unsure")) continue;
    BecomeUnsure(owner.error());
    return FailAll(batch, Error(Code::kAborted, owner.error().message()));
  }
  for (std::size_t next = 0; next < batch.size();) {
    const Gathering answers;
    for (const std::size_t end = std::min(batch.size(), next + kAnswersTogether); next < end; ++next) {
      Pending& pending = batch[next];
      const auto found = openings.find(pending.member.get());
      const Status opening = found == openings.end() ? Ok() : found->second;
      pending.done(opening.ok() ? pending.fits : opening);
    }
  }
}

void ServerLog::Impl::FailAll(std::vector<Pending>& batch, const Error& error) {
  for (Pending& pending : batch) {
    NoteRefused(pending);
    pending.done(error);
  }
}

// Returns false if the log had ended before.
bool ServerLog::Impl::End() {
  MutexLock lock(mutex);
  return !std::exchange(ended, true);
}

void ServerLog::Impl::BecomeUnsure(const Error& error) {
  if (!End()) return;
  RATCHET_LOG(kError, "cannot determine a region's owner after a write, so this log ends: {}", error.ToString());
  if (options.unsure) options.unsure(error);
}

void ServerLog::Impl::BecomeFenced(const Error& error) {
  if (!End()) return;
  RATCHET_LOG(kError, "server log is fenced: {}", error.ToString());
  if (options.fenced) options.fenced(error);
}

ServerLog::ServerLog(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<ServerLog>> ServerLog::Open(io::FencedDirectory& directory, ServerLogOptions options) {
  auto impl = std::make_unique<Impl>(directory, std::move(options));
  RATCHET_TRY(impl->OpenNextFile());
  Impl* const raw = impl.get();
  impl->thread = std::thread([raw] { raw->Run(); });
  return std::unique_ptr<ServerLog>(new ServerLog(std::move(impl)));
}

ServerLog::~ServerLog() { Stop(); }

bool ServerLog::Append(const LogEntry& entry, std::shared_ptr<LogMember> member, std::function<void(Status)> done,
                       std::uint64_t computed_from) {
  Pending pending;
  pending.region = entry.region;
  pending.sequence = entry.sequence;
  pending.version = VersionOf(entry);
  pending.computed_from = computed_from;
  pending.member = std::move(member);
  pending.done = std::move(done);
  EncodeLogEntry(entry, pending.payload);
  if (pending.payload.size() > impl_->options.max_entry_bytes) {
    pending.fits = Error(Code::kResourceExhausted, fmt::format("a log entry has {} bytes; the limit is {}",
                                                               pending.payload.size(), impl_->options.max_entry_bytes));
    pending.payload = {};
  }
  return impl_->Enqueue(std::move(pending));
}

bool ServerLog::Follow(std::shared_ptr<LogMember> member, std::function<void(Status)> done,
                       std::uint64_t computed_from) {
  Pending pending;
  pending.logs = false;
  pending.computed_from = computed_from;
  pending.member = std::move(member);
  pending.done = std::move(done);
  return impl_->Enqueue(std::move(pending));
}

bool ServerLog::Impl::Enqueue(Pending pending) {
  MutexLock lock(mutex);
  if (stopping || ended) return false;
  queued_bytes += pending.payload.size();
  queue.push_back(std::move(pending));
  work.NotifyOne();
  return true;
}

void ServerLog::WaitForRoom() {
  MutexLock lock(impl_->mutex);
  while (impl_->queued_bytes > impl_->options.max_pending_bytes && !impl_->stopping && !impl_->ended)
    impl_->progress.Wait(impl_->mutex);
}

Status ServerLog::Check() const {
  RATCHET_TRY(impl_->directory.Check());
  MutexLock lock(impl_->mutex);
  return impl_->ended ? Status(Ended()) : Ok();
}

bool ServerLog::CheckMakesRoundTrip() const { return impl_->directory.CheckMakesRoundTrip(); }

Status ServerLog::Roll() {
  MutexLock lock(impl_->mutex);
  if (impl_->stopping || impl_->ended) return Ended();
  const std::uint64_t mine = ++impl_->rolls_wanted;
  impl_->work.NotifyOne();
  while (impl_->rolls_done < mine && !impl_->ended) impl_->progress.Wait(impl_->mutex);
  return impl_->rolls_done < mine ? Status(Ended()) : impl_->roll_result;
}

void ServerLog::Covered(const std::string& region, std::uint64_t sequence) {
  MutexLock lock(impl_->mutex);
  for (FileInfo& file : impl_->files) {
    const auto owed = file.owed.find(region);
    if (owed != file.owed.end() && owed->second <= sequence) file.owed.erase(owed);
  }
}

// A file counts only when all before it do, so one number is enough.
std::uint64_t ServerLog::Impl::NewestCovered() const {
  MutexLock lock(mutex);
  std::uint64_t newest = 0;
  if (ended) return newest;
  for (const FileInfo& file : files) {
    if (!file.closed || !file.owed.empty() || file.number >= keep_from) break;
    newest = file.number;
  }
  return newest;
}

Status ServerLog::Impl::MoveMark(std::uint64_t number) {
  const std::string mark = io::CoveredMark({options.prefix, number});
  if (marked != 0) return directory.directory().Rename(io::CoveredMark({options.prefix, marked}), mark);
  RATCHET_ASSIGN(const std::unique_ptr<io::WritableFile> file, directory.directory().Create(mark));
  return file->Close();
}

void ServerLog::MarkCovered() {
  MutexLock marking(impl_->marking);
  const std::uint64_t newest = impl_->NewestCovered();
  if (newest <= impl_->marked) return;
  if (const Status moved = impl_->MoveMark(newest); !moved.ok()) {
    RATCHET_LOG(kWarn, "cannot mark logs as covered: {}", moved.error().ToString());
    return;
  }
  RATCHET_LOG(kInfo, "Manifests cover logs up to {}", io::ToString({impl_->options.prefix, newest}));
  impl_->marked = newest;
  MutexLock lock(impl_->mutex);
  std::erase_if(impl_->files, [newest](const FileInfo& file) { return file.number <= newest; });
}

void ServerLog::KeepFrom(std::uint64_t number) {
  MutexLock lock(impl_->mutex);
  impl_->keep_from = number;
}

std::vector<ServerLog::FileInfo> ServerLog::Files(std::size_t most_owed) const {
  MutexLock lock(impl_->mutex);
  std::vector<FileInfo> files;
  for (const FileInfo& file : impl_->files) {
    files.push_back({file.name, file.number, file.bytes, file.closed, {}, file.owed.size()});
    auto last = file.owed.begin();
    std::advance(last, std::min(most_owed, file.owed.size()));
    files.back().owed.insert(file.owed.begin(), last);
  }
  return files;
}

ServerLog::Metrics ServerLog::GetMetrics() const {
  MutexLock lock(impl_->mutex);
  Metrics now = impl_->metrics;
  now.sync_time = impl_->sync_time.Look();
  return now;
}

void ServerLog::Stop() {
  {
    MutexLock lock(impl_->mutex);
    if (impl_->stopping) return;
    impl_->stopping = true;
    impl_->work.NotifyAll();
    impl_->progress.NotifyAll();
  }
  impl_->thread.join();
  impl_->maker.Stop();
  GiveBackSpace(*impl_->writer);
  {
    MutexLock lock(impl_->mutex);
    if (!impl_->files.empty()) impl_->files.back().closed = true;
  }
  MarkCovered();
}

}  // namespace ratchet::regionserver
