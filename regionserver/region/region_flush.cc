// Flush and close: from memstore to store file to manifest (S21: numbered openings; S22: close drains, flushes,
// checks).
#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "common/base/fault_point.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/io/fatal.h"
#include "common/io/unneeded_files.h"
#include "regionserver/region/region_core.h"
#include "regionserver/region/region_counts.h"
#include "regionserver/region/region_errors.h"
#include "regionserver/region/scan_registry.h"
#include "regionserver/region/table_compression.h"
#include "regionserver/region/table_filter.h"

namespace ratchet::regionserver {

namespace {

using Files = std::vector<std::shared_ptr<const StoreFiles::Reader>>;

bool IsNamed(const std::vector<std::string>& names, const std::shared_ptr<const StoreFiles::Reader>& file) {
  return std::find(names.begin(), names.end(), file->info().name) != names.end();
}

Files FilesNamed(const Files& files, const std::vector<std::string>& names) {
  Files named;
  std::copy_if(files.begin(), files.end(), std::back_inserter(named),
               [&names](const auto& file) { return IsNamed(names, file); });
  return named;
}

// Opens the replaced files for scans that began before, because the files' names will disappear soon. `replaced` holds
// each file once itself.
void HoldWhatIsRead(const Files& replaced, const std::string& region) {
  for (const auto& file : replaced) {
    if (file.use_count() == 1) continue;
    const Status held = HoldOpen(*file);
    if (!held.ok())
      RATCHET_LOG(kWarn, "region {}: scans of {} may fail: {}", region, file->info().name, held.error().ToString());
  }
}

}  // namespace

std::string RegionCore::NewFileName() { return fmt::format("{}-{}.sst", params.open_number, next_file_.fetch_add(1)); }

// Switches memstores. The previous memstore has exactly the data that is readable but not flushed. Returns false when
// there is nothing to flush.
bool RegionCore::BeginFlush() {
  MutexLock publish_lock(publishing_);
  MutexLock lock(state_mutex_);
  flush_asked_ = false;
  if (view_->flushing) return true;  // an earlier attempt failed: flush its memstore first
  if (view_->active->empty() && read_point_ == manifest_->state().flushed_sequence) return false;
  auto view = std::make_shared<StoreView>(*view_);
  view->flushing = std::exchange(view->active, std::make_shared<Memstore>(order, params.settings->budget));
  view_ = std::move(view);
  flushing_sequence_ = read_point_;
  flushing_nonces_ = nonces.DrainUnsaved();
  return true;
}

// Writes the memstore of BeginFlush and the edits that an opening replayed into files, and makes them live.
Status RegionCore::WriteFlushing(const std::vector<std::string>& consumed_edits) {
  std::shared_ptr<Memstore> flushing;
  {
    MutexLock lock(state_mutex_);
    flushing = view_->flushing;
  }
  if (!flushing && consumed_edits.empty() && new_families_.empty()) return Ok();
  ManifestEdit edit;
  edit.flushed_sequence = flushing ? flushing_sequence_ : manifest_->state().flushed_sequence;
  edit.consumed_edits = consumed_edits;
  edit.families = new_families_;
  edit.nonces = flushing_nonces_;
  if (begin_mark_) edit.shipped_until = {*begin_mark_};
  nonces.Forget(NonceNow() - params.settings->nonce_memory.count());
  edit.nonces_since_ms = nonces.horizon_ms();
  {
    MutexLock lock(staging_);
    edit.greatest_timestamp = greatest_timestamp_;
  }
  if (flushing && !flushing->empty()) {
    RATCHET_ASSIGN(edit.added, WriteMemstore(*flushing, edit));
  }
  if (Status failed = HitFault("region.file_written", encoded_name); !failed.ok()) {
    RemoveFiles(edit.added);
    return failed;
  }
  RATCHET_TRY(InstallFiles(std::move(edit), flushing != nullptr));
  begin_mark_.reset();
  new_families_.clear();
  return Ok();
}

// `edit` is the edit that will name the file, as far as it is known.
Result<std::vector<StoreFileInfo>> RegionCore::WriteMemstore(const Memstore& memstore, const ManifestEdit& edit) {
  const std::unique_ptr<CellCursor> ends = memstore.NewCursor();
  ends->Seek({});
  std::size_t key_bytes = ends->key().size();
  ends->SeekToLast();
  key_bytes += ends->key().size();
  if (!RATCHET_MUTANT("region.file_before_room")) RATCHET_TRY(manifest_->MakeRoom(edit, key_bytes));
  RATCHET_ASSIGN(
      std::unique_ptr<StoreFiles::Writer> writer,
      store_files_.Create(NewFileName(), CompressionFor(*params.table, FileUse::kFlush), FilterFor(*params.table)));
  const std::unique_ptr<CellCursor> cursor = memstore.NewCursor();
  const std::uint64_t seen_by_all = scans.SmallestReadPoint(kMaxSequence);
  std::string last;
  bool hides = false;
  std::uint64_t unchecked = 0;
  for (cursor->Seek({}); cursor->Valid(); cursor->Next()) {
    // If the same version was written twice, the newest sequence comes first and hides the others, except from scans
    // with a lower read point.
    const bool again = WithoutSequence(cursor->key()) == last;
    if (again && (hides || RATCHET_MUTANT("region.flush_for_new_scans_only"))) continue;
    if (!again) last = WithoutSequence(cursor->key());
    hides = SequenceOf(cursor->key()) <= seen_by_all;
    RATCHET_TRY(writer->Add(cursor->key(), cursor->value()));
    unchecked += cursor->key().size() + cursor->value().size();
    if (unchecked < DiskRoom::kStep) continue;
    unchecked = 0;
    RATCHET_TRY(DiskRoom::CheckLast(*directory_));
  }
  Result<StoreFileInfo> written = writer->Finish();
  if (!written.ok() && written.error().code() == Code::kIo && !io::DieOnFailedSync(written.error(), "store file"))
    return written.error();
  if (!written.ok()) return written.error();
  return std::vector<StoreFileInfo>{std::move(written).value()};
}

// Append, sync, CHECK. Only then do readers of this opening see the files, and the log may be deleted.
Status RegionCore::InstallFiles(ManifestEdit edit, bool flushed) {
  std::vector<std::shared_ptr<const StoreFiles::Reader>> added;
  for (const StoreFileInfo& file : edit.added) {
    Result<std::shared_ptr<const StoreFiles::Reader>> reader = store_files_.OpenFile(file);
    if (!reader.ok()) {
      RemoveFiles(edit.added);
      return std::move(reader).error();
    }
    added.push_back(std::move(reader).value());
  }
  RATCHET_TRY(NameFiles(edit));
  RATCHET_TRY(HitFault("region.manifest_written", encoded_name));
  if (RATCHET_MUTANT("log.covered_before_check")) SayCovered();
  if (RATCHET_MUTANT("region.unneeded_before_check")) SayUnneeded(edit.removed);
  RATCHET_TRY(CheckWritten());
  SayCovered();
  const Files replaced = FilesNamed(AcquireReadPoint().view->files, edit.removed);
  ShowFiles(edit, added, flushed);
  HoldWhatIsRead(replaced, encoded_name);
  IgnoreResult(HitFault("region.before_unneeded", encoded_name), "this fault point only pauses or kills");
  SayUnneeded(edit.removed);  // after ShowFiles: new readers do not open them, and old readers have them open
  KeepManifestSmall();
  return Ok();
}

// S80 (remove only unnamed files): until a record is begun, no manifest can name the files; from then on only the
// cleaner may remove them.
Status RegionCore::NameFiles(const ManifestEdit& edit) {
  const std::uint64_t before = manifest_->bytes();
  Status appended = manifest_->Append(edit);
  const bool may_be_there = appended.ok() || appended.error().code() != Code::kNoSpace;
  mark_recorded_ = mark_recorded_ || (begin_mark_ && may_be_there);
  if (!appended.ok() && (manifest_->bytes() == before || RATCHET_MUTANT("region.remove_what_may_be_named")))
    RemoveFiles(edit.added);
  return appended;
}

void RegionCore::RemoveFiles(const std::vector<StoreFileInfo>& unnamed) const {
  if (RATCHET_MUTANT("store.keep_unfinished")) return;
  for (const StoreFileInfo& file : unnamed) store_files_.Remove(file);
}

// Called after the CHECK of everything that the new file will contain, and before anything else is appended.
void RegionCore::KeepManifestSmall() {
  const std::uint64_t before = manifest_->bytes();
  const Result<bool> rewritten = manifest_->RewriteIfLarge(params.settings->manifest_slack_bytes);
  if (!rewritten.ok()) {
    RATCHET_LOG(kWarn, "region {}: the manifest stays at {} bytes: {}", encoded_name, before,
                rewritten.error().ToString());
  } else if (*rewritten) {
    RATCHET_LOG(kInfo, "region {}: the manifest was rewritten, {} bytes instead of {}", encoded_name,
                manifest_->bytes(), before);
  }
}

void RegionCore::ShowFiles(const ManifestEdit& edit,
                           const std::vector<std::shared_ptr<const StoreFiles::Reader>>& added, bool flushed) {
  std::shared_ptr<Memstore> memstore;  // frees the memstore after the lock is released, if no reader holds it
  {
    MutexLock lock(state_mutex_);
    memstore = ShowFilesLocked(edit, added, flushed);
  }
  if (memstore) scans.Flushed(memstore, added);
}

std::shared_ptr<Memstore> RegionCore::ShowFilesLocked(
    const ManifestEdit& edit, const std::vector<std::shared_ptr<const StoreFiles::Reader>>& added, bool flushed) {
  std::shared_ptr<Memstore> memstore;
  auto view = std::make_shared<StoreView>(*view_);
  std::erase_if(view->files, [&edit](const auto& file) { return IsNamed(edit.removed, file); });
  view->files.insert(view->files.end(), added.begin(), added.end());
  if (flushed) {
    memstore = std::exchange(view->flushing, nullptr);
    flushing_nonces_.clear();
    flushed_sequence_ = std::max(flushed_sequence_, edit.flushed_sequence);
  }
  view_ = std::move(view);
  return memstore;
}

// S32 (two-stage cleaner) for logs and store files: called only after a CHECK that followed the manifest's sync. Then
// every later opening begins with this manifest, so the mark stays true even if this server dies.
void RegionCore::SayCovered() { params.log->Covered(encoded_name, manifest_->state().flushed_sequence); }

void RegionCore::SayUnneeded(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const Status renamed = directory_->Rename(name, io::UnneededName(name));
    if (renamed.ok() || renamed.error().code() == Code::kNotFound) continue;
    RATCHET_LOG(kWarn, "region {}: cannot mark {} as unneeded, the next opening will: {}", encoded_name, name,
                renamed.error().ToString());
  }
}

// A failed earlier attempt leaves its memstore unflushed; newer writes are in the next memstore.
Result<bool> RegionCore::FlushAllThatIsThere() {
  bool aside = false;
  {
    MutexLock lock(state_mutex_);
    aside = view_->flushing != nullptr;
  }
  if (!BeginFlush()) return false;
  RATCHET_TRY(WriteFlushing({}));
  if (aside && !RATCHET_MUTANT("region.flush_what_stands_aside") && BeginFlush()) RATCHET_TRY(WriteFlushing({}));
  return true;
}

Status RegionCore::Flush() {
  MutexLock file_lock(file_work_);
  RATCHET_TRY(CheckReadable());
  const TimePoint began = params.clock->Now();
  const Result<bool> flushed = FlushAllThatIsThere();
  if (flushed.ok() && !*flushed) return Ok();
  const Status written = flushed.ok() ? Ok() : Status(flushed.error());
  RegionCounts::OfProcess().flush.Note(params.clock->Now() - began);
  if (!written.ok()) RegionCounts::OfProcess().failed_flushes.fetch_add(1, std::memory_order_relaxed);
  return written;
}

// S46 (source of a snapshot part). Holds the lock of the files, so that the files that the manifest names keep their
// names.
Result<CopyReport> RegionCore::CopyTo(bool flush, CopyTarget target) {
  target.families = params.table->families;
  MutexLock file_lock(file_work_);
  RATCHET_TRY(CheckReadable());
  if (flush && !RATCHET_MUTANT("copy.no_flush")) {
    if (const Result<bool> flushed = FlushAllThatIsThere(); !flushed.ok()) return flushed.error();
  }
  RATCHET_ASSIGN(CopyReport report, CopyState(params.info, *directory_, manifest_->state(), target));
  RATCHET_TRY(CheckOwnership());
  return report;
}

Status RegionCore::DrainForClose() {
  MutexLock lock(state_mutex_);
  if (lost_) return Error(Code::kFenced, "region " + encoded_name + " was taken over");
  if (unsure_ || (state_ != State::kOpen && state_ != State::kClosing)) return NotServingLocked();
  state_ = State::kClosing;
  while (!RATCHET_MUTANT("region.close_without_drain") && in_flight_ > 0 && !lost_) drained_.Wait(state_mutex_);
  if (lost_) return Error(Code::kFenced, "region " + encoded_name + " was taken over while it was closing");
  return Ok();
}

Status RegionCore::FinishClose() {
  RATCHET_TRY(RecordEnd());
  // Flushes twice when an earlier flush failed half way. A region without writes has nothing to flush.
  while (BeginFlush()) RATCHET_TRY(WriteFlushing({}));
  RATCHET_TRY(RecordClosed());
  RATCHET_TRY(HitFault("region.before_close_check", encoded_name));
  if (RATCHET_MUTANT("region.close_without_check")) return Ok();
  return CheckOwnership();
}

// S35 (proof of a clean close). Reads end before the record is written, because from then on a split or merge may begin
// with the manifest's state.
Status RegionCore::RecordClosed() {
  {
    MutexLock lock(state_mutex_);
    if (lost_ || unsure_ || state_ != State::kClosing) return NotServingLocked();
    if (!RATCHET_MUTANT("region.read_after_closed")) state_ = State::kClosed;
  }
  if (RATCHET_MUTANT("region.close_without_record")) return Ok();
  ManifestEdit edit;
  edit.closed = true;
  if (end_mark_) edit.shipped_until = {*end_mark_};
  const Status written = manifest_->Append(edit);
  if (written.ok() || written.error().code() != Code::kNoSpace) return written;
  MutexLock lock(state_mutex_);  // nothing was written, so the region may be closed again
  if (!lost_ && !unsure_) state_ = State::kClosing;
  return written;
}

// The record CLOSED may be durable, so this opening never serves again.
void RegionCore::EndAfterClosed(const Error& error) {
  {
    MutexLock lock(state_mutex_);
    if (lost_ || unsure_) return;
    unsure_ = true;
  }
  RATCHET_LOG(kError, "region {}: the manifest has the record CLOSED, but the close failed: {}", encoded_name,
              error.ToString());
  if (params.unsure) params.unsure(error);
}

Status RegionCore::Close() {
  RATCHET_TRY(DrainForClose());
  MutexLock file_lock(
      file_work_);  // held until the state is set, so that no compaction writes to the manifest of a closed region
  const Status finished = FinishClose();
  bool recorded = false;
  {
    MutexLock lock(state_mutex_);
    recorded = state_ == State::kClosed;
    if (finished.ok()) {
      if (lost_ || unsure_) return NotServingLocked();
      state_ = State::kClosed;
      return Ok();
    }
  }
  // A failure before the record leaves the region closing (or lost): it serves reads, accepts no writes, and no record
  // declares it closed. A server whose log is fenced ends by itself.
  if (recorded && finished.error().code() != Code::kFenced) EndAfterClosed(finished.error());
  return finished;
}

}  // namespace ratchet::regionserver
