#include "regionserver/store/manifest.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/base/fault_point.h"
#include "common/base/mutant.h"
#include "common/io/fatal.h"
#include "common/io/light_directory.h"
#include "common/io/torn_write.h"
#include "common/io/unneeded_files.h"
#include "regionserver/log/byte_codec.h"
#include "regionserver/store/ownership.h"

namespace ratchet::regionserver {
namespace {

constexpr std::uint8_t kWholeState = 1;
constexpr std::uint8_t kEdit = 2;
constexpr std::uint8_t kVersion = 1;
constexpr std::uint8_t kVersionOfFamilies = 2;  // the same, and families behind it; written only where there are some
constexpr std::uint8_t kVersionOfRanges = 3;    // the same, and files' ranges of rows behind them, likewise
constexpr std::uint8_t kVersionOfMajors = 4;    // the same, and when a major compaction wrote each file, likewise
constexpr std::uint8_t kVersionOfTurns = 5;     // the same, and where what is shipped ends behind it, likewise
constexpr std::uint64_t kMostRecordOverhead = 32;  // a record's header and padding, less than
// The space of a record is made durable as zeros before the record is written, and so many more: a manifest that does
// not end with them has been cut, also when it was cut just between two records.
constexpr std::uint64_t kZerosBehind = 32;
constexpr std::string_view kClosedName = "CLOSED";  // in the place of a removed file: the record CLOSED (S35)
constexpr std::size_t kStep = 64U << 10;            // read at once

io::LogIdentity IdentityOf(std::string_view region, std::uint64_t open_seq) {
  return {kManifestKind, io::LogFileId(fmt::format("{}/{}", region, ManifestName(open_seq)))};
}

void PutFile(std::string& out, const StoreFileInfo& file) {
  PutBytes(out, file.name);
  PutVarint(out, file.bytes);
  PutVarint(out, file.cells);
  PutVarint(out, file.last_sequence);
  PutBytes(out, file.smallest_key);
  PutBytes(out, file.largest_key);
}

StoreFileInfo TakeFile(ByteReader& in) {
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

std::vector<std::string> TakeNames(ByteReader& in) {
  std::vector<std::string> names;
  for (std::uint64_t left = in.Count(); left > 0 && in.ok(); --left) names.emplace_back(in.Bytes());
  return names;
}

std::uint8_t VersionOf(const ManifestEdit& edit) {
  if (!edit.shipped_until.empty()) return kVersionOfTurns;
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
  if (version >= kVersionOfTurns) PutQueuePoints(out, edit.shipped_until);
  return out;
}

bool IsMoment(std::int64_t ms) { return ms >= -kLargestPlausible && ms <= kLargestPlausible; }

Result<ManifestEdit> Decode(std::uint8_t version, std::string_view payload) {
  ByteReader in(payload);
  ManifestEdit edit;
  edit.flushed_sequence = in.Varint();
  edit.greatest_timestamp = in.Signed();
  // Counts are claims: what they announce takes memory only when it is there (S55).
  for (std::uint64_t left = in.Count(); left > 0 && in.ok(); --left) edit.added.push_back(TakeFile(in));
  edit.removed = TakeNames(in);
  edit.closed = std::erase(edit.removed, kClosedName) > 0;
  edit.consumed_edits = TakeNames(in);
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
      const std::vector<std::string> dead = TakeNames(in);
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
  if (version >= kVersionOfTurns) plausible = TakeQueuePoints(in, edit.shipped_until) && plausible;
  if (!plausible || !in.AtEnd())
    return Error(Code::kCorruption, "manifest record is malformed although its checksum is right");
  return edit;
}

// Whether the file ends with the zeros that stand behind every record.
Result<bool> EndsWithZeros(const io::ReadableFile& file, std::uint64_t size) {
  std::string end(kZerosBehind, '\xff');
  if (size < end.size()) return false;
  RATCHET_ASSIGN(const std::size_t got, file.ReadAt(size - end.size(), end.data(), end.size()));
  return got == end.size() && end == std::string(kZerosBehind, '\0');
}

// The state as one edit of an empty one.
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

Result<ManifestState> ReadManifest(io::Directory& directory, std::string_view region, std::uint64_t open_seq) {
  const std::string name = ManifestName(open_seq);
  // Piece by piece: after damage its length may be anything (S91).
  RATCHET_ASSIGN(const std::unique_ptr<io::ReadableFile> file, directory.OpenForRead(name));
  RATCHET_ASSIGN(const std::uint64_t size, file->size());
  io::RecordReader::Options options;
  options.expected = IdentityOf(region, open_seq);
  io::RecordReader reader(*file, size, options);
  ManifestState state;
  io::Record record;
  bool whole = false;
  while (reader.Next(&record)) {
    const bool known = record.version >= kVersion && record.version <= kVersionOfTurns;
    if (record.type != (whole ? kEdit : kWholeState) || !known)
      return Error(Code::kCorruption, fmt::format("{}/{}: unexpected record of type {} version {} at offset {}",
                                                  directory.path(), name, record.type, record.version, record.offset));
    RATCHET_ASSIGN(const ManifestEdit edit, Decode(record.version, record.payload));
    ApplyEdit(edit, state);
    whole = true;
  }
  if (!reader.status().ok()) return reader.status().error().Annotate(fmt::format("{}/{}", directory.path(), name));
  if (reader.tail().end == io::LogEnd::kDamage)
    return Error(Code::kCorruption, fmt::format("{}/{} is damaged at offset {}: {}", directory.path(), name,
                                                reader.tail().offset, reader.tail().reason));
  if (!whole) return Error(Code::kNotFound, fmt::format("{}/{} has no state", directory.path(), name));
  io::LogBytes bytes(*file, size, kStep);
  const bool torn = reader.tail().end == io::LogEnd::kTorn;
  const bool could_be = !torn || io::CouldBeTorn(bytes, reader.tail().offset);
  if (!bytes.status().ok()) return bytes.status().error().Annotate(fmt::format("{}/{}", directory.path(), name));
  if (!could_be && !RATCHET_MUTANT("manifest.any_tail"))
    return Error(Code::kCorruption, fmt::format("{}/{} is damaged at offset {}: {}, although all of it was written",
                                                directory.path(), name, reader.tail().offset, reader.tail().reason));
  RATCHET_ASSIGN(const bool zeros, EndsWithZeros(*file, size));
  if (!zeros && !RATCHET_MUTANT("manifest.any_end"))
    return Error(Code::kCorruption,
                 fmt::format("{}/{} was cut at {} bytes: the zeros are missing that stand behind every record",
                             directory.path(), name, size));
  return state;
}

namespace {

// Names of recovered edits that the cleaner has taken: every crash would leave some for ever. Should a late splitter
// publish one again, its entries are at or below the flushed sequence and are left out (S26).
void ForgetGoneEdits(const std::vector<std::string>& names, ManifestState& state) {
  std::erase_if(state.consumed_edits, [&](const std::string& edits) {
    return !std::binary_search(names.begin(), names.end(), edits) &&
           !std::binary_search(names.begin(), names.end(), io::UnneededName(edits));
  });
}

}  // namespace

Result<std::optional<NumberedState>> NewestState(io::Directory& directory, const std::vector<std::string>& names,
                                                 const std::string& region, std::uint64_t open_seq) {
  std::vector<std::uint64_t> numbers;
  for (const std::string& name : names)
    if (const std::uint64_t number = ManifestNumber(name); number > 0 && number < open_seq) numbers.push_back(number);
  std::sort(numbers.rbegin(), numbers.rend());
  for (const std::uint64_t number : numbers) {
    Result<ManifestState> state = ReadManifest(directory, region, number);
    if (!state.ok() && state.error().code() == Code::kNotFound) continue;
    if (!state.ok()) return state.error();
    RATCHET_TRY(CheckNothingNewer(directory, names, number, open_seq));
    return std::optional<NumberedState>({number, std::move(*state)});
  }
  RATCHET_TRY(CheckNothingNewer(directory, names, 0, open_seq));
  return std::optional<NumberedState>();
}

namespace {

// S38, S53: what the order says of the region's past must be there.
Status CheckPast(const io::Directory& directory, const RegionPast& past, std::uint64_t newest) {
  if (past.opened_before && newest == 0 && !RATCHET_MUTANT("region.open_over_lost_manifest")) {
    return Error(Code::kCorruption,
                 fmt::format("{}: the master says that the region has been open, but no manifest is there: bring its "
                             "files back from a copy",
                             directory.path()));
  }
  if (newest >= past.born || RATCHET_MUTANT("region.any_birth")) return Ok();
  return Error(Code::kCorruption,
               fmt::format("{}: the master says that {} holds what a split or a merge has given the region, but it is "
                           "not there: bring the region's files back from a copy",
                           directory.path(), ManifestName(past.born)));
}

Result<ManifestState> StateBefore(io::Directory& directory, const std::vector<std::string>& names,
                                  const std::string& region, std::uint64_t open_seq, const RegionPast& past) {
  RATCHET_ASSIGN(std::optional<NumberedState> newest, NewestState(directory, names, region, open_seq));
  RATCHET_TRY(CheckPast(directory, past, newest ? newest->number : 0));
  if (!newest) return ManifestState{};  // the first opening
  ForgetGoneEdits(names, newest->state);
  newest->state.closed = false;  // that opening was; this one begins
  return std::move(newest->state);
}

}  // namespace

Result<std::unique_ptr<Manifest>> Manifest::Create(io::Directory& directory, const std::string& region,
                                                   std::uint64_t open_seq, const RegionPast& past,
                                                   const Examine& examine) {
  if (open_seq == 0)
    return Error(Code::kInvalidArgument, fmt::format("region {}: openings are numbered from 1", region));
  RATCHET_ASSIGN(std::unique_ptr<io::WritableFile> file, directory.Create(ManifestName(open_seq)));
  RATCHET_ASSIGN(const std::vector<std::string> names, ClaimRegion(directory, open_seq));
  RATCHET_TRY(HitFault("manifest.created", region));
  // Only now: a lower opening that has acknowledged anything did so before its mark was taken.
  RATCHET_ASSIGN(ManifestState state, StateBefore(directory, names, region, open_seq, past));
  if (examine) RATCHET_TRY(examine(state, names));
  std::unique_ptr<Manifest> manifest(new Manifest(directory, region, open_seq));
  manifest->state_ = std::move(state);
  RATCHET_ASSIGN(manifest->file_, manifest->Begin(std::move(file)));
  return manifest;
}

Result<Manifest::File> Manifest::Begin(std::unique_ptr<io::WritableFile> file) const {
  File begun;
  begun.writer = std::make_unique<io::RecordWriter>(std::move(file), IdentityOf(region_, open_seq_));
  RATCHET_TRY(Write(begun, kWholeState, WholeState(state_)));
  begun.state_bytes = begun.writer->end_offset();
  return begun;
}

Status Manifest::Publish(io::Directory& directory, const std::string& region, std::uint64_t number,
                         const ManifestState& state) {
  Manifest manifest(directory, region, number);
  manifest.state_ = state;
  const std::string unfinished = std::string(kUnfinishedManifestPrefix) + ManifestName(number);
  RATCHET_ASSIGN(std::unique_ptr<io::WritableFile> file, directory.Create(unfinished));
  RATCHET_ASSIGN(manifest.file_, manifest.Begin(std::move(file)));
  RATCHET_TRY(HitFault("manifest.before_rename", directory.path()));
  return manifest.TakeName(unfinished);
}

Status Manifest::Append(const ManifestEdit& edit) {
  if (!edit.added.empty() && !RATCHET_MUTANT("manifest.no_dir_sync")) {
    const Status synced = directory_.Sync();
    if (!io::DieOnFailedSync(synced, "region directory")) return synced.error();
  }
  RATCHET_TRY(Write(file_, kEdit, edit));
  ApplyEdit(edit, state_);
  return Ok();
}

Status Manifest::MakeRoom(const ManifestEdit& edit, std::size_t key_bytes) {
  constexpr std::uint64_t kFileEntry = 256;  // of a file, besides its keys
  return Reserve(file_, Encode(VersionOf(edit), edit).size() + key_bytes + kFileEntry);
}

Result<bool> Manifest::RewriteIfLarge(std::uint64_t slack_bytes) {
  if (RATCHET_MUTANT("manifest.grows_for_ever") || bytes() <= 2 * file_.state_bytes + slack_bytes) return false;
  const std::string unfinished = std::string(kUnfinishedManifestPrefix) + ManifestName(open_seq_);
  const Status removed = directory_.Unlink(unfinished);  // of an earlier try of this opening
  if (!removed.ok() && removed.error().code() != Code::kNotFound) return removed.error();
  RATCHET_ASSIGN(std::unique_ptr<io::WritableFile> file, directory_.Create(unfinished));
  Result<File> rewritten = Begin(std::move(file));
  if (!rewritten.ok()) {
    IgnoreResult(directory_.Unlink(unfinished), "the next try, or the next opening, removes it");
    return std::move(rewritten).error();
  }
  RATCHET_TRY(HitFault("manifest.before_rename", directory_.path()));
  RATCHET_TRY(TakeName(unfinished));
  io::FollowName(rewritten->writer->file(), ManifestName(open_seq_));
  file_ = std::move(rewritten).value();
  return true;
}

// Until the name is durable on the new file, records in either of the two might be the ones that a crash takes away.
Status Manifest::TakeName(const std::string& written) const {
  Status named = directory_.Rename(written, ManifestName(open_seq_));
  if (!named.ok() && named.error().code() == Code::kNoSpace) return named;  // the names are as they were
  if (named.ok() && !RATCHET_MUTANT("manifest.no_rename_sync")) named = directory_.Sync();
  if (!io::DieOnFailedSync(named, "region manifest")) return named.error();
  return Ok();
}

// Nothing is written yet, so this may fail.
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
  const Status synced = RATCHET_MUTANT("manifest.no_sync") ? file.writer->Flush() : file.writer->Sync();
  if (!io::DieOnFailedSync(synced, "region manifest")) return synced.error();
  return Ok();
}

}  // namespace ratchet::regionserver
