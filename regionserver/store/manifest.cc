#include "regionserver/store/manifest.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "common/base/check.h"
#include "common/base/fault_point.h"
#include "common/base/mutant.h"
#include "common/io/fatal.h"
#include "common/io/light_directory.h"
#include "common/io/torn_write.h"
#include "common/io/unneeded_files.h"
#include "regionserver/store/ownership.h"
#include "regionserver/wal/byte_codec.h"
#include "regionserver/wal/log_splitter.h"

namespace ratchet::regionserver {
namespace {

constexpr std::uint8_t kWholeState = 1;
constexpr std::uint8_t kEdit = 2;
constexpr std::uint8_t kVersion = 1;
constexpr std::uint8_t kVersionOfFamilies = 2;     // version 1 followed by families; written only if there are some
constexpr std::uint8_t kVersionOfRanges = 3;       // followed by the files' row ranges; written only if needed
constexpr std::uint8_t kVersionOfMajors = 4;       // followed by the times of major compactions; written only if needed
constexpr std::uint8_t kVersionOfMarks = 5;        // followed by the ends of shipped openings; written only if needed
constexpr std::uint64_t kMostRecordOverhead = 32;  // upper bound of a record's header and padding
// Before a record is written, its space and this many bytes after it are made durable as zeros; for the first record,
// with it. So a manifest that does not end with zeros has been truncated, even if the cut is between two records,
// unless its opening died in the sync of its first record (OpeningMayHaveDied).
constexpr std::uint64_t kZerosBehind = 32;
constexpr std::uint64_t kReserveStep = 4096;
// name of the "removed file" that marks the record CLOSED (S35: proof of a clean close)
constexpr std::string_view kClosedName = "CLOSED";
constexpr std::size_t kStep = 64U << 10;  // bytes of one read

io::LogIdentity IdentityOf(std::string_view region, std::uint64_t open_number) {
  return {kManifestKind, io::LogFileId(fmt::format("{}/{}", region, ManifestName(open_number)))};
}

void PutFile(std::string& out, const StoreFileInfo& file) {
  PutBytes(out, file.name);
  PutVarint(out, file.bytes);
  PutVarint(out, file.cells);
  PutVarint(out, file.last_sequence);
  PutBytes(out, file.smallest_key);
  PutBytes(out, file.largest_key);
}

StoreFileInfo ReadFileInfo(ByteReader& in) {
  StoreFileInfo file;
  file.name = in.Bytes();
  file.bytes = in.Varint();
  file.cells = in.Varint();
  file.last_sequence = in.Varint();
  file.smallest_key = in.Bytes();
  file.largest_key = in.Bytes();
  return file;
}

void PutNames(std::string& out, const std::vector<std::string>& names) {
  PutVarint(out, names.size());
  for (const std::string& name : names) PutBytes(out, name);
}

std::vector<std::string> ReadNames(ByteReader& in) {
  std::vector<std::string> names;
  for (std::uint64_t left = in.Count(); left > 0 && in.ok(); --left) names.emplace_back(in.Bytes());
  return names;
}

std::uint8_t VersionOf(const ManifestEdit& edit) {
  if (!edit.shipped_until.empty()) return kVersionOfMarks;
  const auto any = [&edit](auto has) { return std::any_of(edit.added.begin(), edit.added.end(), has); };
  if (any([](const StoreFileInfo& file) { return file.major_ms != 0; })) return kVersionOfMajors;
  if (any([](const StoreFileInfo& file) { return file.cut(); })) return kVersionOfRanges;
  const bool dead = any([](const StoreFileInfo& file) { return !file.dead.empty(); });
  return dead || !edit.families.empty() ? kVersionOfFamilies : kVersion;
}

std::string Encode(std::uint8_t version, const ManifestEdit& edit) {
  std::string out;
  PutVarint(out, edit.flushed_sequence);
  PutSigned(out, edit.greatest_timestamp);
  PutVarint(out, edit.added.size());
  for (const StoreFileInfo& file : edit.added) PutFile(out, file);
  PutNames(out, edit.closed ? std::vector<std::string>{std::string(kClosedName)} : edit.removed);
  PutNames(out, edit.consumed_edits);
  PutVarint(out, edit.nonces.size());
  for (const UsedNonce& nonce : edit.nonces) {
    PutVarint(out, nonce.group);
    PutVarint(out, nonce.value);
    PutSigned(out, nonce.used_ms);
  }
  PutSigned(out, edit.nonces_since_ms);
  if (version == kVersion) return out;
  PutVarint(out, edit.families.size());
  for (const auto& [family, id] : edit.families) {
    PutBytes(out, family);
    PutVarint(out, id);
  }
  for (const StoreFileInfo& file : edit.added) PutNames(out, {file.dead.begin(), file.dead.end()});
  if (version == kVersionOfFamilies) return out;
  for (const StoreFileInfo& file : edit.added) {
    PutBytes(out, file.low);
    PutBytes(out, file.high);
  }
  if (version == kVersionOfRanges) return out;
  for (const StoreFileInfo& file : edit.added) PutSigned(out, file.major_ms);
  if (version >= kVersionOfMarks) PutQueuePoints(out, edit.shipped_until);
  return out;
}

bool IsMoment(std::int64_t ms) { return ms >= -kLargestPlausible && ms <= kLargestPlausible; }

Result<ManifestEdit> Decode(std::uint8_t version, std::string_view payload) {
  ByteReader in(payload);
  ManifestEdit edit;
  edit.flushed_sequence = in.Varint();
  edit.greatest_timestamp = in.Signed();
  // Counts are claims: memory is allocated only for items that are present (S55: checked input).
  for (std::uint64_t left = in.Count(); left > 0 && in.ok(); --left) edit.added.push_back(ReadFileInfo(in));
  edit.removed = ReadNames(in);
  edit.closed = std::erase(edit.removed, kClosedName) > 0;
  edit.consumed_edits = ReadNames(in);
  bool plausible =
      edit.flushed_sequence <= static_cast<std::uint64_t>(kLargestPlausible) && IsMoment(edit.greatest_timestamp);
  for (std::uint64_t left = in.Count(); left > 0 && in.ok(); --left) {
    UsedNonce& nonce = edit.nonces.emplace_back();
    nonce.group = in.Varint();
    nonce.value = in.Varint();
    nonce.used_ms = in.Signed();
    plausible = plausible && IsMoment(nonce.used_ms);
  }
  edit.nonces_since_ms = in.Signed();
  plausible = plausible && (edit.nonces_since_ms == INT64_MIN || IsMoment(edit.nonces_since_ms));
  if (version >= kVersionOfFamilies) {
    for (std::uint64_t left = in.Count(); left > 0 && in.ok(); --left) {
      const std::string family(in.Bytes());
      edit.families[family] = in.Varint();
    }
    for (StoreFileInfo& file : edit.added) {
      const std::vector<std::string> dead = ReadNames(in);
      file.dead.insert(dead.begin(), dead.end());
    }
  }
  for (std::size_t i = 0; version >= kVersionOfRanges && i < edit.added.size(); ++i) {
    edit.added[i].low = in.Bytes();
    edit.added[i].high = in.Bytes();
  }
  for (std::size_t i = 0; version >= kVersionOfMajors && i < edit.added.size(); ++i) {
    edit.added[i].major_ms = in.Signed();
    plausible = plausible && IsMoment(edit.added[i].major_ms);
  }
  if (version >= kVersionOfMarks) plausible = ReadQueuePoints(in, edit.shipped_until) && plausible;
  if (!plausible || !in.AtEnd())
    return Error(Code::kCorruption, "manifest record is malformed although its checksum is right");
  return edit;
}

// Returns whether the file ends with the zeros that follow every record.
Result<bool> EndsWithZeros(const io::ReadableFile& file, std::uint64_t size) {
  std::string end(kZerosBehind, '\xff');
  if (size < end.size()) return false;
  RATCHET_ASSIGN(const std::size_t got, file.ReadAt(size - end.size(), end.data(), end.size()));
  return got == end.size() && end == std::string(kZerosBehind, '\0');
}

// S53 (opening starts with full state): the manifest ends right after its first record, without the zeros. A second
// record is written only after the mark of the opening is durable. So without a trace of the opening the first record
// is the whole state, and the zeros were lost in the sync that wrote both.
Result<bool> OpeningMayHaveDied(io::Directory& directory, std::uint64_t open_number) {
  RATCHET_ASSIGN(const std::vector<std::string> names, directory.List());
  return std::none_of(names.begin(), names.end(), [open_number](const std::string& name) {
    return OpenedNumber(name) == open_number || OpeningOfStoreFile(name) == open_number;
  });
}

// Returns the state as one edit of an empty state.
ManifestEdit WholeState(const ManifestState& state) {
  ManifestEdit edit;
  edit.flushed_sequence = state.flushed_sequence;
  edit.greatest_timestamp = state.greatest_timestamp;
  edit.added = state.files;
  edit.consumed_edits.assign(state.consumed_edits.begin(), state.consumed_edits.end());
  edit.nonces = state.nonces;
  edit.nonces_since_ms = state.nonces_since_ms;
  edit.families = state.families;
  edit.shipped_until = state.shipped_until;
  return edit;
}

}  // namespace

void ApplyEdit(const ManifestEdit& edit, ManifestState& state) {
  state.flushed_sequence = std::max(state.flushed_sequence, edit.flushed_sequence);
  state.greatest_timestamp = std::max(state.greatest_timestamp, edit.greatest_timestamp);
  std::erase_if(state.files, [&](const StoreFileInfo& file) {
    return std::find(edit.removed.begin(), edit.removed.end(), file.name) != edit.removed.end();
  });
  for (const auto& [family, id] : edit.families) {
    state.families[family] = id;
    for (StoreFileInfo& file : state.files) file.dead.insert(family);
  }
  state.files.insert(state.files.end(), edit.added.begin(), edit.added.end());
  state.consumed_edits.insert(edit.consumed_edits.begin(), edit.consumed_edits.end());
  state.nonces.insert(state.nonces.end(), edit.nonces.begin(), edit.nonces.end());
  state.nonces_since_ms = std::max(state.nonces_since_ms, edit.nonces_since_ms);
  state.closed = edit.closed;
  if (!edit.shipped_until.empty()) state.shipped_until = edit.shipped_until;
  std::erase_if(state.nonces, [&](const UsedNonce& nonce) { return nonce.used_ms < state.nonces_since_ms; });
}

Result<ManifestState> ReadManifest(io::Directory& directory, std::string_view region, std::uint64_t open_number) {
  const std::string name = ManifestName(open_number);
  // Reads the file in pieces, because a damaged file may have any length (S91: lengths are checked).
  RATCHET_ASSIGN(const std::unique_ptr<io::ReadableFile> file, directory.OpenForRead(name));
  RATCHET_ASSIGN(const std::uint64_t size, file->size());
  io::RecordReader::Options options;
  options.expected = IdentityOf(region, open_number);
  io::RecordReader reader(*file, size, options);
  ManifestState state;
  io::Record record;
  std::uint64_t records = 0;
  while (reader.Next(&record)) {
    const bool known = record.version >= kVersion && record.version <= kVersionOfMarks;
    if (record.type != (records > 0 ? kEdit : kWholeState) || !known)
      return Error(Code::kCorruption, fmt::format("{}/{}: unexpected record of type {} version {} at offset {}",
                                                  directory.path(), name, record.type, record.version, record.offset));
    RATCHET_ASSIGN(const ManifestEdit edit, Decode(record.version, record.payload));
    ApplyEdit(edit, state);
    ++records;
  }
  if (!reader.status().ok()) return reader.status().error().Annotate(fmt::format("{}/{}", directory.path(), name));
  if (reader.tail().end == io::LogEnd::kDamage)
    return Error(Code::kCorruption, fmt::format("{}/{} is damaged at offset {}: {}", directory.path(), name,
                                                reader.tail().offset, reader.tail().reason));
  if (records == 0) return Error(Code::kNotFound, fmt::format("{}/{} has no state", directory.path(), name));
  io::LogBytes bytes(*file, size, kStep);
  const bool torn = reader.tail().end == io::LogEnd::kTorn;
  const bool could_be = !torn || io::CouldBeTorn(bytes, reader.tail().offset);
  if (!bytes.status().ok()) return bytes.status().error().Annotate(fmt::format("{}/{}", directory.path(), name));
  if (!could_be && !RATCHET_MUTANT("manifest.any_tail"))
    return Error(Code::kCorruption,
                 fmt::format("{}/{} is damaged at offset {}: {}, although this part was written completely",
                             directory.path(), name, reader.tail().offset, reader.tail().reason));
  RATCHET_ASSIGN(bool zeros, EndsWithZeros(*file, size));
  if (!zeros && records == 1 && !torn) {
    RATCHET_ASSIGN(zeros, OpeningMayHaveDied(directory, open_number));
  }
  if (!zeros && !RATCHET_MUTANT("manifest.any_end"))
    return Error(Code::kCorruption,
                 fmt::format("{}/{} was cut at {} bytes: the zeros after its last record are missing", directory.path(),
                             name, size));
  return state;
}

namespace {

// Forgets consumed recovered edits whose files the cleaner has removed, because every crash adds names. If a late
// splitter publishes such a file again, its entries are at or below the flushed sequence and are skipped (S26: split up
// to the seal).
void ForgetGoneEdits(const std::vector<std::string>& names, ManifestState& state) {
  std::erase_if(state.consumed_edits, [&](const std::string& edits) {
    return !std::binary_search(names.begin(), names.end(), edits) &&
           !std::binary_search(names.begin(), names.end(), io::UnneededName(edits));
  });
}

}  // namespace

Result<std::optional<NumberedState>> NewestState(io::Directory& directory, const std::vector<std::string>& names,
                                                 const std::string& region, std::uint64_t open_number) {
  std::vector<std::uint64_t> numbers;
  for (const std::string& name : names)
    if (const std::uint64_t number = ManifestNumber(name); number > 0 && number < open_number)
      numbers.push_back(number);
  std::sort(numbers.rbegin(), numbers.rend());
  for (const std::uint64_t number : numbers) {
    Result<ManifestState> state = ReadManifest(directory, region, number);
    if (!state.ok() && state.error().code() == Code::kNotFound) continue;
    if (!state.ok()) return state.error();
    RATCHET_TRY(CheckNothingNewer(directory, names, number, open_number));
    return std::optional<NumberedState>({number, std::move(*state)});
  }
  RATCHET_TRY(CheckNothingNewer(directory, names, 0, open_number));
  return std::optional<NumberedState>();
}

namespace {

Result<ManifestState> StateBefore(io::Directory& directory, const std::vector<std::string>& names,
                                  const std::string& region, std::uint64_t open_number, const RegionPast& past) {
  RATCHET_ASSIGN(std::optional<NumberedState> newest, NewestState(directory, names, region, open_number));
  FoundState found;
  if (newest) found = {newest->number, newest->state.flushed_sequence};
  RATCHET_TRY(CheckPast(directory, names, past, found));
  if (!newest) return ManifestState{};  // this is the first opening
  ForgetGoneEdits(names, newest->state);
  newest->state.closed = false;  // the previous opening was closed; this one begins
  return std::move(newest->state);
}

}  // namespace

Result<std::unique_ptr<Manifest>> Manifest::Claim(io::Directory& directory, const std::string& region,
                                                  std::uint64_t open_number, const RegionPast& past) {
  if (open_number == 0)
    return Error(Code::kInvalidArgument, fmt::format("region {}: openings are numbered from 1", region));
  RATCHET_TRY(CheckIssued(directory, past, open_number));
  std::unique_ptr<Manifest> manifest(new Manifest(directory, region, open_number));
  RATCHET_ASSIGN(manifest->claimed_, directory.Create(ManifestName(open_number)));
  RATCHET_ASSIGN(manifest->names_, TakeMarks(directory, open_number));
  return manifest;
}

Status Manifest::SyncNames() {
  if (!RATCHET_MUTANT("manifest.no_dir_sync")) {
    const Status synced = directory_.Sync();
    if (!io::DieOnFailedSync(synced, "region directory")) return synced.error();
  }
  NoteNamesDurable();
  return Ok();
}

Status Manifest::TakeOver(const RegionPast& past, const Examine& examine) {
  RATCHET_CHECK(names_durable_ && claimed_ != nullptr, "region {}: opening {} reads before its claim is durable",
                region_, open_number_);
  RATCHET_TRY(HitFault("manifest.created", region_));
  // Read the state only now: a lower opening acknowledged writes only before its mark was taken.
  const std::vector<std::string> names = std::move(names_);
  RATCHET_ASSIGN(state_, StateBefore(directory_, names, region_, open_number_, past));
  if (examine) RATCHET_TRY(examine(state_, names));
  opened_before_ = HighestOpened(names);
  RATCHET_ASSIGN(file_, Begin(std::move(claimed_)));
  return Ok();
}

Status Manifest::SyncRecord() {
  RATCHET_TRY(SyncFile(file_));
  record_durable_ = true;
  return Ok();
}

void Manifest::NoteRecordDurable() {
  file_.writer->NoteDurable();
  record_durable_ = true;
}

Result<std::unique_ptr<Manifest>> Manifest::Create(io::Directory& directory, const std::string& region,
                                                   std::uint64_t open_number, const RegionPast& past,
                                                   const Examine& examine) {
  RATCHET_ASSIGN(std::unique_ptr<Manifest> manifest, Claim(directory, region, open_number, past));
  RATCHET_TRY(manifest->SyncNames());
  RATCHET_TRY(manifest->TakeOver(past, examine));
  RATCHET_TRY(manifest->SyncRecord());
  return manifest;
}

Result<Manifest::File> Manifest::Begin(std::unique_ptr<io::WritableFile> file) const {
  File begun;
  begun.writer = std::make_unique<io::RecordWriter>(std::move(file), IdentityOf(region_, open_number_));
  const ManifestEdit whole = WholeState(state_);
  RATCHET_TRY(FillAhead(begun, Encode(VersionOf(whole), whole).size()));
  RATCHET_TRY(Write(begun, kWholeState, whole));
  begun.state_bytes = begun.writer->end_offset();
  return begun;
}

Result<Manifest::File> Manifest::BeginDurably(std::unique_ptr<io::WritableFile> file) const {
  RATCHET_ASSIGN(File begun, Begin(std::move(file)));
  RATCHET_TRY(SyncFile(begun));
  return begun;
}

Status Manifest::Publish(io::Directory& directory, const std::string& region, std::uint64_t number,
                         const ManifestState& state) {
  Manifest manifest(directory, region, number);
  manifest.state_ = state;
  const std::string unfinished = std::string(kUnfinishedManifestPrefix) + ManifestName(number);
  RATCHET_ASSIGN(std::unique_ptr<io::WritableFile> file, directory.Create(unfinished));
  RATCHET_ASSIGN(manifest.file_, manifest.BeginDurably(std::move(file)));
  RATCHET_TRY(HitFault("manifest.before_rename", directory.path()));
  return manifest.RenameOver(unfinished);
}

Status Manifest::SayOpened() {
  if (opened_) return Ok();
  RATCHET_TRY(regionserver::SayOpened(directory_, opened_before_, open_number_));
  opened_ = true;
  return Ok();
}

Status Manifest::Append(const ManifestEdit& edit) {
  RATCHET_TRY(SayOpened());
  // Without the record CLOSED the region counts as not closed cleanly, which loses nothing.
  const bool only_closes = edit.closed && edit.shipped_until.empty();
  const bool needs_mark = !opened_durable_ && !only_closes && !RATCHET_MUTANT("manifest.unsynced_opened");
  if ((!edit.added.empty() || needs_mark) && !RATCHET_MUTANT("manifest.no_dir_sync")) {
    const Status synced = directory_.Sync();
    if (!io::DieOnFailedSync(synced, "region directory")) return synced.error();
    opened_durable_ = true;
  }
  RATCHET_CHECK(record_durable_, "region {}: opening {} adds to a first record that is not durable", region_,
                open_number_);
  RATCHET_TRY(Write(file_, kEdit, edit));
  RATCHET_TRY(SyncFile(file_));
  ApplyEdit(edit, state_);
  return Ok();
}

Status Manifest::MakeRoom(const ManifestEdit& edit, std::size_t key_bytes) {
  constexpr std::uint64_t kFileEntry = 256;  // bytes of a file's entry in addition to its keys
  return Reserve(file_, Encode(VersionOf(edit), edit).size() + key_bytes + kFileEntry);
}

Result<bool> Manifest::RewriteIfLarge(std::uint64_t slack_bytes) {
  if (RATCHET_MUTANT("manifest.grows_for_ever") || bytes() <= 2 * file_.state_bytes + slack_bytes) return false;
  const std::string unfinished = std::string(kUnfinishedManifestPrefix) + ManifestName(open_number_);
  const Status removed = directory_.Unlink(unfinished);  // left by an earlier attempt of this opening
  if (!removed.ok() && removed.error().code() != Code::kNotFound) return removed.error();
  RATCHET_ASSIGN(std::unique_ptr<io::WritableFile> file, directory_.Create(unfinished));
  Result<File> rewritten = BeginDurably(std::move(file));
  if (!rewritten.ok()) {
    IgnoreResult(directory_.Unlink(unfinished), "the next attempt, or the next opening, removes it");
    return std::move(rewritten).error();
  }
  RATCHET_TRY(HitFault("manifest.before_rename", directory_.path()));
  RATCHET_TRY(RenameOver(unfinished));
  io::FollowName(rewritten->writer->file(), ManifestName(open_number_));
  file_ = std::move(rewritten).value();
  return true;
}

// Until the rename is durable, a crash may undo it. Then the records of either file could be lost, so no record is
// appended before.
Status Manifest::RenameOver(const std::string& written) const {
  Status named = directory_.Rename(written, ManifestName(open_number_));
  if (!named.ok() && named.error().code() == Code::kNoSpace) return named;  // the names are unchanged
  if (named.ok() && !RATCHET_MUTANT("manifest.no_rename_sync")) named = directory_.Sync();
  if (!io::DieOnFailedSync(named, "region manifest")) return named.error();
  return Ok();
}

// The space of the first record, as zeros. The sync of the record makes them durable too. No part of the record is
// written yet, so this may fail safely. That sync needs the journal, so while ext4 is being shut down it may report a
// false success (disk.h). SayOpened makes a name after it, which fails then, so the region is not served.
Status Manifest::FillAhead(File& file, std::uint64_t payload) {
  const std::uint64_t end = file.writer->end_offset() + payload + kMostRecordOverhead + kZerosBehind;
  const std::uint64_t wanted = std::max(end, kReserveStep);
  RATCHET_TRY(file.writer->file().ZeroFill(wanted));
  file.space = SpaceReserve(wanted, kReserveStep);
  return Ok();
}

// No part of the record is written yet, so this may fail safely.
Status Manifest::Reserve(File& file, std::uint64_t payload) const {
  RATCHET_TRY(io::OpenAgain(file.writer->file()));
  const std::uint64_t end = file.writer->end_offset() + payload + kMostRecordOverhead + kZerosBehind;
  RATCHET_TRY(file.space.Ensure(file.writer->file(), end));
  if (file.space.Holds(end)) return Ok();
  return Error(Code::kIo, fmt::format("{}: no space can be reserved for the manifest", directory_.path()));
}

Status Manifest::Write(File& file, std::uint8_t type, const ManifestEdit& edit) const {
  const std::uint8_t version = VersionOf(edit);
  const std::string payload = Encode(version, edit);
  RATCHET_TRY(Reserve(file, payload.size()));
  RATCHET_TRY(file.writer->Add(type, version, file.next_record++, payload));
  RATCHET_TRY(HitFault("manifest.before_write", directory_.path()));
  const Status written = file.writer->Flush();
  if (!io::DieOnFailedSync(written, "region manifest")) return written.error();
  return Ok();
}

Status Manifest::SyncFile(File& file) {
  const Status synced = RATCHET_MUTANT("manifest.no_sync") ? Ok() : file.writer->Sync();
  if (!io::DieOnFailedSync(synced, "region manifest")) return synced.error();
  return Ok();
}

namespace {

bool IsNamed(const ManifestState& state, const std::string& name) {
  return std::any_of(state.files.begin(), state.files.end(),
                     [&name](const StoreFileInfo& file) { return file.name == name; });
}

bool IsUnneeded(const std::string& name, const ManifestState& state, std::uint64_t open_number) {
  if (const std::uint64_t opening = OpeningOfStoreFile(name); opening > 0) {
    const bool lower = opening < open_number || RATCHET_MUTANT("unneeded.any_opening");
    return lower && !IsNamed(state, name);
  }
  if (const std::uint64_t opening = std::max(ManifestNumber(name), ServingNumber(name)); opening > 0)
    return opening < open_number;
  if (name.starts_with(kUnfinishedManifestPrefix)) {
    const std::uint64_t opening = ManifestNumber(std::string_view(name).substr(kUnfinishedManifestPrefix.size()));
    return opening > 0 && opening < open_number;
  }
  if (name.starts_with(kEditsPrefix))
    return state.consumed_edits.contains(name) || RATCHET_MUTANT("unneeded.any_edits");
  return false;
}

}  // namespace

std::vector<std::string> UnneededFiles(const std::vector<std::string>& names, const ManifestState& state,
                                       std::uint64_t open_number) {
  std::vector<std::string> unneeded;
  for (const std::string& name : names)
    if (IsUnneeded(name, state, open_number)) unneeded.push_back(name);
  return unneeded;
}

}  // namespace ratchet::regionserver
