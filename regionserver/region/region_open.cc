// Opening: the manifest of this opening, the state of the one before, recovered edits (S21: numbered openings; S25:
// recovered edits stay until flushed; S26: split up to the seal).
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "common/base/fault_point.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "regionserver/region/region_core.h"
#include "regionserver/store/ownership.h"
#include "regionserver/store/recovered_edits.h"
#include "regionserver/store/unneeded.h"
#include "regionserver/wal/log_splitter.h"

namespace ratchet::regionserver {

namespace {

// S49 (re-added family is new): returns the families whose id differs from that of the same name in earlier openings.
FamilyIds NewFamilies(const TableDescriptor& table, const FamilyIds& known) {
  FamilyIds changed;
  if (RATCHET_MUTANT("region.any_family_of_the_name")) return changed;
  for (const FamilyDescriptor& family : table.families) {
    const auto before = known.find(family.name);
    if (family.added_by != (before == known.end() ? 0 : before->second)) changed[family.name] = family.added_by;
  }
  return changed;
}

}  // namespace

Status RegionCore::Open() {
  RATCHET_CHECK(params.log != nullptr && params.clock != nullptr && directory_ != nullptr,
                "region {} without its parts", encoded_name);
  // S54 (no schema, no change): checked before anything is claimed. Every table has a family, so the schema was not
  // read.
  if (families.empty() && !RATCHET_MUTANT("region.open_without_families"))
    return Error(
        Code::kFailedPrecondition,
        fmt::format(
            "the order to open region {} carries a schema of table {} without column families: the master has not "
            "read the table's descriptor",
            encoded_name, params.info.table.ToString()));
  MutexLock file_lock(file_work_);
  const Status opened = OpenIt();
  if (!opened.ok()) RecordEndOfFailed(opened.error());
  return opened;
}

Status RegionCore::OpenIt() {
  auto view = std::make_shared<StoreView>();
  FamilyIds new_families;
  const auto examine = [this, &view, &new_families](const ManifestState& found,
                                                    const std::vector<std::string>& names) -> Status {
    new_families = NewFamilies(*params.table, found.families);
    for (StoreFileInfo file : found.files) {
      for (const auto& [family, id] : new_families) file.dead.insert(family);
      RATCHET_ASSIGN(std::shared_ptr<const StoreFiles::Reader> reader, store_files_.OpenFile(file));
      view->files.push_back(std::move(reader));
    }
    return CheckNothingUnnamed(found, names);
  };
  RATCHET_ASSIGN(manifest_, Manifest::Create(*directory_, encoded_name, params.open_number, params.past, examine));
  new_families_ = std::move(new_families);
  RATCHET_TRY(params.log->Check());  // an opening by a server that is already fenced must not act
  const ManifestState& state = manifest_->state();

  view->active = std::make_shared<Memstore>(order, params.settings->budget);
  if (!RATCHET_MUTANT("region.forget_nonces")) nonces.Load(state.nonces, state.nonces_since_ms);
  {
    MutexLock lock(staging_);
    next_sequence_ = state.flushed_sequence + 1;
    greatest_timestamp_ = state.greatest_timestamp;
  }
  {
    MutexLock lock(state_mutex_);
    view_ = std::move(view);
    read_point_ = flushed_sequence_ = state.flushed_sequence;
  }

  std::vector<std::string> consumed;
  RATCHET_TRY(ReplayEdits(&consumed));
  RATCHET_TRY(HitFault("region.replayed", encoded_name));
  StartNonceTime();
  RATCHET_TRY(RecordBegin());
  // S25: replayed edits are in store files before any process learns of this opening.
  if (RATCHET_MUTANT("region.no_flush_of_replayed")) {
    ManifestEdit edit;
    edit.consumed_edits = std::move(consumed);
    RATCHET_TRY(InstallFiles(std::move(edit), false));
  } else {
    BeginFlush();
    RATCHET_TRY(WriteFlushing(consumed));
  }
  {
    MutexLock lock(staging_);
    if (RATCHET_MUTANT("region.low_first_sequence")) next_sequence_ = 1;
    first_sequence = next_sequence_;
    shown_timestamp_.store(greatest_timestamp_, std::memory_order_relaxed);
    deletes_before_ = greatest_timestamp_;  // any row may have been deleted at that time
  }
  RATCHET_TRY(CheckOwnership());
  SayCovered();
  IgnoreResult(HitFault("region.before_unneeded", encoded_name), "this fault point only pauses or kills");
  RATCHET_ASSIGN(const std::vector<std::string> names, directory_->List());
  RATCHET_TRY(manifest_->SayOpened());
  SayUnneeded(UnneededFiles(names, manifest_->state(), params.open_number));
  MutexLock lock(state_mutex_);
  if (lost_) return Error(Code::kFenced, "region " + encoded_name + " was taken over while it was opening");
  state_ = State::kOpen;
  return Ok();
}

Status RegionCore::ReplayEdits(std::vector<std::string>* consumed) {
  RATCHET_ASSIGN(const std::vector<std::string> names, directory_->List());
  for (const std::string& name : names) {
    if (!name.starts_with(kEditsPrefix) || manifest_->state().consumed_edits.contains(name)) continue;
    RATCHET_TRY(ReplayFile(name));
    consumed->push_back(name);
  }
  return Ok();
}

// Skips entries that store files already cover (S26).
Status RegionCore::ReplayFile(const std::string& name) {
  const std::uint64_t flushed = manifest_->state().flushed_sequence;
  std::uint64_t entries = 0;
  const FamilyIds dead_families = new_families_;
  RATCHET_TRY(ReadEdits(*directory_, encoded_name, name, [&](const LogEntry& entry, bool uncovered) {
    {
      MutexLock lock(staging_);
      next_sequence_ = std::max(next_sequence_, entry.sequence + 1);
      greatest_timestamp_ = std::max(greatest_timestamp_, entry.greatest_timestamp);
    }
    if (entry.sequence <= flushed && !uncovered && !RATCHET_MUTANT("region.no_edit_filter")) return;
    ++entries;
    MutexLock lock(state_mutex_);
    for (const LoggedCell& logged : entry.cells) {
      const bool dead = dead_families.contains(logged.cell.family) && !RATCHET_MUTANT("region.replay_dead_families");
      if (!dead) view_->active->Add(logged.cell, entry.sequence, logged.ttl_ms);
    }
    read_point_ = std::max(read_point_, entry.sequence);
    if (!RATCHET_MUTANT("region.forget_nonces")) nonces.Add(entry.nonces);
  }));
  RATCHET_LOG(kInfo, "region {}: replayed {} entries of {}", encoded_name, entries, name);
  return Ok();
}

// S92 (leftover store files are proven): the data of a flush that a crash interrupts is also in the recovered edits. So
// a file with cells above everything that the manifest covers, and below those edits, was named by a record that the
// manifest has lost.
Status RegionCore::CheckNothingUnnamed(const ManifestState& state, const std::vector<std::string>& names) const {
  std::optional<std::uint64_t> first_uncovered;
  for (const std::string& name : names) {
    const std::uint64_t opening = OpeningOfStoreFile(name);
    const bool named = std::any_of(state.files.begin(), state.files.end(),
                                   [&name](const StoreFileInfo& file) { return file.name == name; });
    if (opening == 0 || opening >= params.open_number || named || RATCHET_MUTANT("region.take_lost_record")) continue;
    const Result<std::uint64_t> sequence = store_files_.FirstSequenceOf(name);
    if (!sequence.ok() && (sequence.error().code() == Code::kCorruption || sequence.error().code() == Code::kNotFound))
      continue;  // the file was never finished, so never named
    if (!sequence.ok()) return sequence.error();
    if (*sequence <= state.flushed_sequence) continue;
    if (!first_uncovered) {
      RATCHET_ASSIGN(first_uncovered, FirstUncovered(*directory_, encoded_name, state, names));
    }
    if (*sequence >= *first_uncovered) continue;
    return Error(
        Code::kCorruption,
        fmt::format("{}: the manifest has lost its record of {}, whose cells (from sequence {} on) are in no other "
                    "file and in no log. The region stays closed, and none of its files is deleted: restore the "
                    "manifest from a copy, or move that file away to continue without it",
                    directory_->path(), name, *sequence));
  }
  return Ok();
}

}  // namespace ratchet::regionserver
