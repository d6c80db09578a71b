#include "regionserver/region/file_set.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "common/base/fault_point.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/io/fatal.h"
#include "common/io/unneeded_files.h"
#include "regionserver/region/compaction.h"
#include "regionserver/region/file_settings.h"
#include "regionserver/region/region_counts.h"
#include "regionserver/store/manifest.h"
#include "regionserver/store/ownership.h"
#include "regionserver/store/recovered_edits.h"

namespace ratchet::regionserver {
namespace {

ReadableFiles FilesNamed(const ReadableFiles& files, const std::vector<std::string>& names) {
  ReadableFiles named;
  std::copy_if(files.begin(), files.end(), std::back_inserter(named), [&names](const auto& file) {
    return std::find(names.begin(), names.end(), file->info().name) != names.end();
  });
  return named;
}

// Opens the replaced files for scans that began before, because the files' names will disappear soon. `replaced` holds
// each file once itself.
void HoldWhatIsRead(const ReadableFiles& replaced, const std::string& region) {
  for (const auto& file : replaced) {
    if (file.use_count() == 1) continue;
    const Status held = HoldOpen(*file);
    if (!held.ok())
      RATCHET_LOG(kWarn, "region {}: scans of {} may fail: {}", region, file->info().name, held.error().ToString());
  }
}

// S49 (re-added family is new): returns the families whose id differs from that of the same name in earlier openings.
FamilyIds NewFamilies(const TableDescriptor& table, const FamilyIds& known) {
  FamilyIds changed;
  for (const FamilyDescriptor& family : table.families) {
    const auto before = known.find(family.name);
    const bool same = family.added_by == (before == known.end() ? 0 : before->second);
    if (!same && !RATCHET_MUTANT("region.any_family_of_the_name")) changed[family.name] = family.added_by;
  }
  return changed;
}

}  // namespace

std::string FileSet::NewFileName() {
  return fmt::format("{}-{}.sst", opening_.params.open_number, next_file_.fetch_add(1));
}

Status FileSet::Claim() {
  const OpenParams& params = opening_.params;
  RATCHET_ASSIGN(manifest_, Manifest::Claim(directory(), opening_.encoded_name, params.open_number, params.past));
  return Ok();
}

Result<ReadableFiles> FileSet::TakeOver(FamilyIds& new_families) {
  const OpenParams& params = opening_.params;
  ReadableFiles files;
  const auto examine = [&](const ManifestState& found, const std::vector<std::string>& names) -> Status {
    new_families = NewFamilies(*params.table, found.families);
    for (StoreFileInfo file : found.files) {
      for (const auto& [family, id] : new_families) file.dead.insert(family);
      RATCHET_ASSIGN(std::shared_ptr<const StoreFiles::Reader> reader, store_files_.OpenFile(file));
      files.push_back(std::move(reader));
    }
    return CheckNothingUnnamed(found, names);
  };
  RATCHET_TRY(manifest_->TakeOver(params.past, examine));
  return files;
}

// S92 (leftover store files are proven): the data of a flush that a crash interrupts is also in the recovered edits. So
// a file with cells above everything that the manifest covers, and below those edits, was named by a record that the
// manifest has lost.
Status FileSet::CheckNothingUnnamed(const ManifestState& state, const std::vector<std::string>& names) const {
  std::optional<std::uint64_t> first_uncovered;
  for (const std::string& name : names) {
    const std::uint64_t opening = OpeningOfStoreFile(name);
    const bool named = std::any_of(state.files.begin(), state.files.end(),
                                   [&name](const StoreFileInfo& file) { return file.name == name; });
    if (opening == 0 || opening >= opening_.params.open_number || named || RATCHET_MUTANT("region.take_lost_record"))
      continue;
    const Result<std::uint64_t> sequence = store_files_.FirstSequenceOf(name);
    if (!sequence.ok() && (sequence.error().code() == Code::kCorruption || sequence.error().code() == Code::kNotFound))
      continue;  // the file was never finished, so never named
    if (!sequence.ok()) return sequence.error();
    if (*sequence <= state.flushed_sequence) continue;
    if (!first_uncovered) {
      RATCHET_ASSIGN(first_uncovered, FirstUncovered(directory(), opening_.encoded_name, state, names));
    }
    if (*sequence >= *first_uncovered) continue;
    return Error(
        Code::kCorruption,
        fmt::format("{}: the manifest has lost its record of {}, whose cells (from sequence {} on) are in no other "
                    "file and in no log. The region stays closed, and none of its files is deleted: restore the "
                    "manifest from a copy, or move that file away to continue without it",
                    directory().path(), name, *sequence));
  }
  return Ok();
}

// Where the opening has a first record, it is written with the replayed cells, before the region serves: cells of
// families that are new must not come back when the edits are read again, and a log entry marks the start of shipped
// writes. Entries that no sequence covers may have the sequences of cells in files. Edits that are too large for
// memory, or in very many files, are flushed, so that they do not pile up from opening to opening.
bool FileSet::MustFlushReplayed(const ManifestEdit& record, bool uncovered) const {
  constexpr std::size_t kMostFiles = 16;
  return uncovered || !record.families.empty() || !record.shipped_until.empty() ||
         replayed_edits_.size() > kMostFiles || !data_.HasRoomForReplayed();
}

Status FileSet::TakeReplayed(ManifestEdit record, bool uncovered) {
  if (RATCHET_MUTANT("region.no_flush_of_replayed")) {
    ManifestEdit edit;
    edit.consumed_edits = std::move(record.consumed_edits);
    return InstallFiles(std::move(edit), false);
  }
  replayed_edits_ = std::exchange(record.consumed_edits, {});
  if (!MustFlushReplayed(record, uncovered) || RATCHET_MUTANT("region.replayed_always_wait")) return Ok();
  static_cast<void>(BeginFlush());  // nothing was replayed: the record may have something to say
  return WriteFlushing(std::move(record));
}

// Edits without an entry that was replayed need a record, too, before the region is closed.
Status FileSet::FlushRest() {
  while (BeginFlush()) RATCHET_TRY(WriteFlushing({}));
  return replayed_edits_.empty() ? Ok() : WriteFlushing({});
}

Status FileSet::ShowOpened() {
  SayCovered();
  IgnoreResult(HitFault("region.before_unneeded", opening_.encoded_name), "this fault point only pauses or kills");
  RATCHET_ASSIGN(const std::vector<std::string> names, directory().List());
  RATCHET_TRY(manifest_->SayOpened());
  if (RATCHET_MUTANT("region.edits_go_early")) SayUnneeded(replayed_edits_);
  SayUnneeded(UnneededFiles(names, manifest_->state(), opening_.params.open_number));
  return Ok();
}

// Switches memstores. Returns false when there is nothing to flush.
bool FileSet::BeginFlush() { return data_.SwitchMemstores(manifest_->state().flushed_sequence, aside_); }

Status FileSet::WriteFlushing(ManifestEdit record) {
  const std::shared_ptr<Memstore> flushing = data_.flushing();
  record.consumed_edits = replayed_edits_;  // they were loaded into the first memstore of this opening
  if (!flushing && record.consumed_edits.empty() && record.families.empty()) return Ok();
  record.flushed_sequence = flushing ? aside_.sequence : manifest_->state().flushed_sequence;
  record.nonces = aside_.nonces;
  data_.ForgetOldNonces();
  record.nonces_since_ms = data_.nonces.horizon_ms();
  record.greatest_timestamp = path_.greatest_timestamp();
  if (flushing && !flushing->empty()) {
    RATCHET_ASSIGN(record.added, WriteMemstore(*flushing, record));
  }
  if (Status failed = HitFault("region.file_written", opening_.encoded_name); !failed.ok()) {
    RemoveFiles(record.added);
    return failed;
  }
  RATCHET_TRY(InstallFiles(std::move(record), flushing != nullptr));
  replayed_edits_.clear();
  return Ok();
}

// `edit` is the edit that will name the file, as far as it is known.
Result<std::vector<StoreFileInfo>> FileSet::WriteMemstore(const Memstore& memstore, const ManifestEdit& edit) {
  const std::unique_ptr<CellCursor> ends = memstore.NewCursor();
  ends->Seek({});
  std::size_t key_bytes = ends->key().size();
  ends->SeekToLast();
  key_bytes += ends->key().size();
  if (!RATCHET_MUTANT("region.file_before_room")) RATCHET_TRY(manifest_->MakeRoom(edit, key_bytes));
  RATCHET_ASSIGN(std::unique_ptr<StoreFiles::Writer> writer,
                 store_files_.Create(NewFileName(), CompressionFor(*opening_.params.table, FileUse::kFlush),
                                     FilterFor(*opening_.params.table)));
  const std::unique_ptr<CellCursor> cursor = memstore.NewCursor();
  const std::uint64_t seen_by_all = data_.scans.SmallestReadPoint(kMaxSequence);
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
    RATCHET_TRY(DiskRoom::CheckLast(directory()));
  }
  Result<StoreFileInfo> written = writer->Finish();
  if (!written.ok() && written.error().code() == Code::kIo && !io::DieOnFailedSync(written.error(), "store file"))
    return written.error();
  if (!written.ok()) return written.error();
  return std::vector<StoreFileInfo>{std::move(written).value()};
}

// Append, sync, CHECK. Only then do readers of this opening see the files, and the log may be deleted.
Status FileSet::InstallFiles(ManifestEdit edit, bool flushed) {
  ReadableFiles added;
  for (const StoreFileInfo& file : edit.added) {
    Result<std::shared_ptr<const StoreFiles::Reader>> reader = store_files_.OpenFile(file);
    if (!reader.ok()) {
      RemoveFiles(edit.added);
      return std::move(reader).error();
    }
    added.push_back(std::move(reader).value());
  }
  RATCHET_TRY(NameFiles(edit));
  RATCHET_TRY(HitFault("region.manifest_written", opening_.encoded_name));
  if (RATCHET_MUTANT("log.covered_before_check")) SayCovered();
  if (RATCHET_MUTANT("region.unneeded_before_check")) SayUnneeded(edit.removed);
  RATCHET_TRY(admission_.CheckWritten());
  SayCovered();
  const ReadableFiles replaced = FilesNamed(data_.Files(), edit.removed);
  data_.Show(edit, added, flushed);
  if (flushed) aside_.nonces.clear();
  HoldWhatIsRead(replaced, opening_.encoded_name);
  IgnoreResult(HitFault("region.before_unneeded", opening_.encoded_name), "this fault point only pauses or kills");
  SayUnneeded(edit.removed);  // after Show: new readers do not open them, and old readers have them open
  SayUnneeded(edit.consumed_edits);
  KeepManifestSmall();
  return Ok();
}

// S80 (remove only unnamed files): until a record is begun, no manifest can name the files; from then on only the
// cleaner may remove them.
Status FileSet::NameFiles(const ManifestEdit& edit) {
  const std::uint64_t before = manifest_->bytes();
  Status appended = manifest_->Append(edit);
  const bool may_be_there = appended.ok() || appended.error().code() != Code::kNoSpace;
  may_name_log_ = may_name_log_ || (!edit.shipped_until.empty() && may_be_there);
  if (!appended.ok() && (manifest_->bytes() == before || RATCHET_MUTANT("region.remove_what_may_be_named")))
    RemoveFiles(edit.added);
  return appended;
}

void FileSet::RemoveFiles(const std::vector<StoreFileInfo>& unnamed) const {
  for (const StoreFileInfo& file : unnamed)
    if (!RATCHET_MUTANT("store.keep_unfinished")) store_files_.Remove(file);
}

// Called after the CHECK of everything that the new file will contain, and before anything else is appended.
void FileSet::KeepManifestSmall() {
  const std::uint64_t before = manifest_->bytes();
  const Result<bool> rewritten = manifest_->RewriteIfLarge(opening_.params.settings->manifest_slack_bytes);
  if (!rewritten.ok()) {
    RATCHET_LOG(kWarn, "region {}: the manifest stays at {} bytes: {}", opening_.encoded_name, before,
                rewritten.error().ToString());
  } else if (*rewritten) {
    RATCHET_LOG(kInfo, "region {}: the manifest was rewritten, {} bytes instead of {}", opening_.encoded_name,
                manifest_->bytes(), before);
  }
}

// S32 (two-stage cleaner) for logs and store files: called only after a CHECK that followed the manifest's sync. Then
// every later opening begins with this manifest, so the mark stays true even if this server dies.
void FileSet::SayCovered() { opening_.params.log->Covered(opening_.encoded_name, manifest_->state().flushed_sequence); }

void FileSet::SayUnneeded(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const Status renamed = directory().Rename(name, io::UnneededName(name));
    if (renamed.ok() || renamed.error().code() == Code::kNotFound) continue;
    RATCHET_LOG(kWarn, "region {}: cannot mark {} as unneeded, the next opening will: {}", opening_.encoded_name, name,
                renamed.error().ToString());
  }
}

// A failed earlier attempt leaves its memstore unflushed; newer writes are in the next memstore.
Result<bool> FileSet::FlushAllThatIsThere() {
  const bool aside = data_.flushing() != nullptr;
  if (!BeginFlush()) return false;
  RATCHET_TRY(WriteFlushing({}));
  if (aside && !RATCHET_MUTANT("region.flush_what_stands_aside") && BeginFlush()) RATCHET_TRY(WriteFlushing({}));
  return true;
}

Status FileSet::Flush() {
  MutexLock file_lock(work);
  RATCHET_TRY(admission_.CheckReadable());
  const TimePoint began = opening_.params.clock->Now();
  const Result<bool> flushed = FlushAllThatIsThere();
  if (flushed.ok() && !*flushed) return Ok();
  const Status written = flushed.ok() ? Ok() : Status(flushed.error());
  RegionCounts::OfProcess().flush.Note(opening_.params.clock->Now() - began);
  if (!written.ok()) RegionCounts::OfProcess().failed_flushes.fetch_add(1, std::memory_order_relaxed);
  return written;
}

// S46 (source of a snapshot part). Holds the lock of the files, so that the files that the manifest names keep their
// names.
Result<CopyReport> FileSet::CopyTo(bool flush, CopyTarget target) {
  target.families = opening_.params.table->families;
  MutexLock file_lock(work);
  RATCHET_TRY(admission_.CheckReadable());
  if (flush && !RATCHET_MUTANT("copy.no_flush")) {
    if (const Result<bool> flushed = FlushAllThatIsThere(); !flushed.ok()) return flushed.error();
  }
  RATCHET_ASSIGN(CopyReport report, CopyState(opening_.params.info, directory(), manifest_->state(), target));
  RATCHET_TRY(admission_.CheckOwnership());
  return report;
}

Status FileSet::Compact(bool major) {
  MutexLock compaction_lock(compacting_);
  major = major || ShouldCompactWhole(data_.Files(), opening_.params);
  if (major) RATCHET_TRY(Flush());  // so that a delete in the memstore is applied too
  RATCHET_TRY(admission_.CheckReadable());
  ReadableFiles inputs = data_.Files();
  if (!major) inputs = ChooseTier(std::move(inputs), opening_.params);
  if (inputs.empty()) return Ok();
  const Clock& clock = *opening_.params.clock;
  const TimePoint began = clock.Now();
  const Status merged = MergeFiles(inputs, major);
  RegionCounts::OfProcess().compact.Note(clock.Now() - began);
  if (!merged.ok()) RegionCounts::OfProcess().failed_compactions.fetch_add(1, std::memory_order_relaxed);
  return merged;
}

// Flushes continue meanwhile; the result becomes live through the manifest, like a flush.
Status FileSet::MergeFiles(const ReadableFiles& inputs, bool major) {
  const OpenParams& params = opening_.params;
  std::optional<DiskRoom::Share> room;
  if (params.settings->room != nullptr) {
    const std::uint64_t most = MostWritten(inputs, CompactedWith(*params.table, major));
    RATCHET_ASSIGN(DiskRoom::Share share, params.settings->room->Take(directory(), most));
    room.emplace(std::move(share));
  }

  std::vector<std::unique_ptr<CellCursor>> cursors;
  for (const auto& file : inputs) cursors.push_back(StoreFiles::NewCursor(file));
  const std::unique_ptr<CellCursor> cursor = MergeCursors(std::move(cursors), opening_.order);
  CompactionWriter writer(store_files_, opening_, room ? &*room : nullptr, NewFileName(), major);
  for (cursor->Seek({}); cursor->Valid(); cursor->Next()) RATCHET_TRY(writer.Add(cursor->key(), cursor->value()));
  RATCHET_TRY(cursor->status());
  ManifestEdit edit;
  Result<std::vector<StoreFileInfo>> added = writer.Finish();
  if (!added.ok() && added.error().code() == Code::kIo && !io::DieOnFailedSync(added.error(), "compacted store file"))
    return added.error();
  RATCHET_ASSIGN(edit.added, std::move(added));
  for (const auto& file : inputs) edit.removed.push_back(file->info().name);
  const Status interrupted = HitFault("region.compacted", opening_.encoded_name);

  MutexLock file_lock(work);
  // The region was closed meanwhile: no manifest names the file (S80: remove only unnamed files).
  if (Status readable = interrupted.ok() ? admission_.CheckReadable() : interrupted; !readable.ok()) {
    RemoveFiles(edit.added);
    return readable;
  }
  edit.flushed_sequence = manifest_->state().flushed_sequence;
  edit.greatest_timestamp = manifest_->state().greatest_timestamp;
  RATCHET_LOG(kInfo, "region {}: compacted {} files ({})", opening_.encoded_name, edit.removed.size(),
              major ? "major" : "minor");
  return InstallFiles(std::move(edit), false);
}

}  // namespace ratchet::regionserver
