// The manifest of one opening of a region: its live store files, up to which sequence they cover, and other state that
// survives (S21: numbered openings).
//
// manifest.<open_number>: a record log of its own kind. First record: the whole state, inherited from the previous
// opening. Then one record for each flush and compaction; when these outweigh the state, the file is replaced by one
// that begins with the whole state again (S62: bounded manifest). Only store files in the manifest of the highest
// opening are live, so files that an older opening still writes are invisible. A manifest without its first record
// belongs to an opening that died early, and the previous manifest is still valid; unless a file shows that the record
// existed (S53: opening starts with full state; ownership.h). The first record and the zeros after it become durable in
// one sync. Every later record is written only after opened.<open_number> is durable.
//
// Threads: the reading functions may be called from any thread, all others from one thread at a time (the region's file
// work).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/io/disk.h"
#include "common/io/record_log.h"
#include "regionserver/store/region_past.h"
#include "regionserver/store/store_file.h"
#include "regionserver/wal/log_entry.h"
#include "regionserver/wal/space_reserve.h"

namespace ratchet::regionserver {

inline constexpr std::uint32_t kManifestKind = 'M';

// FamilyDescriptor::added_by by name.
using FamilyIds = std::map<std::string, std::uint64_t, std::less<>>;

struct ManifestState {
  std::uint64_t flushed_sequence = 0;  // `files` cover all entries at or below it
  // greatest that servers have assigned in this region (S27: rising timestamps)
  std::int64_t greatest_timestamp = 0;
  std::vector<StoreFileInfo> files;  // live
  // recovered edits files that `files` cover completely (S25: recovered edits stay until flushed)
  std::set<std::string, std::less<>> consumed_edits;
  std::vector<UsedNonce> nonces;             // of entries at or below flushed_sequence (S29: durable nonces)
  std::int64_t nonces_since_ms = INT64_MIN;  // older ones were forgotten
  // families that the region was opened with; those with id 0 are left out (S49: re-added family is new)
  FamilyIds families;
  bool closed = false;  // its last record is CLOSED (S35: proof of a clean close)
  // S113 (serial order of openings): the ends of earlier shipped writes of the region, one for each region that it was
  // made from.
  std::vector<QueuePoint> shipped_until;
};

// The change that one record makes.
struct ManifestEdit {
  std::uint64_t flushed_sequence = 0;  // never lower than before
  std::int64_t greatest_timestamp = 0;
  std::vector<StoreFileInfo> added;
  std::vector<std::string> removed;  // no longer live; the master's cleaner may take them
  std::vector<std::string> consumed_edits;
  std::vector<UsedNonce> nonces;             // new ones
  std::int64_t nonces_since_ms = INT64_MIN;  // older ones are forgotten
  FamilyIds families;                        // new ones; their cells in the files that were live before are dead
  std::vector<QueuePoint> shipped_until;     // not empty: replaces that of the state
  // CLOSED (S35): the edit has no other field except shipped_until, and no record follows it. On disk it is an edit
  // that removes a file with a name that no file has, so that servers of earlier versions can read it.
  bool closed = false;
};
void ApplyEdit(const ManifestEdit& edit, ManifestState& state);

// "tmp.manifest.<n>": a rewritten manifest before its rename.
inline constexpr std::string_view kUnfinishedManifestPrefix = "tmp.";

// Reads the state in manifest.<open_number>. kNotFound: it has no first record. kCorruption: damaged, or truncated
// after its first record. A torn tail is not an error.
[[nodiscard]] Result<ManifestState> ReadManifest(io::Directory& directory, std::string_view region,
                                                 std::uint64_t open_number);

// The highest manifest below `open_number` with a state; nullopt when there is none. `names` are those that ClaimRegion
// returned. kCorruption as for Manifest::Create.
struct NumberedState {
  std::uint64_t number = 0;
  ManifestState state;
};
[[nodiscard]] Result<std::optional<NumberedState>> NewestState(io::Directory& directory,
                                                               const std::vector<std::string>& names,
                                                               const std::string& region, std::uint64_t open_number);

class Manifest {
 public:
  // S21: creates manifest.<open_number> exclusively, claims the region (ownership.h), then copies the state of the
  // highest lower manifest that has one, and records it durably. The caller CHECKs before it relies on it.
  // kAlreadyExists: this opening was made before. kFenced: a higher opening exists. kCorruption: the previous state
  // cannot be read, or a newer state than the readable one existed (S53), or the state that `past` names is missing.
  // kWentBack, S118 (older copy stays closed): the class StoreWentBack when the directory has a number that the master
  // does not know, and then no claim is made; the class OlderCopy when the directory's state is older than an opening
  // that served, or than a flush. kInvalidArgument: opening 0.
  //
  // `examine` may refuse the state that was found; it also gets the names that the claim has seen. A refused state is
  // not copied, so that the next opening examines the same state again.
  using Examine = std::function<Status(const ManifestState& state, const std::vector<std::string>& names)>;
  [[nodiscard]] static Result<std::unique_ptr<Manifest>> Create(io::Directory& directory, const std::string& region,
                                                                std::uint64_t open_number, const RegionPast& past = {},
                                                                const Examine& examine = {});
  // Create in steps, for a server that makes the results of many openings durable together (S133: shared syncs). Each
  // step requires that the results of the previous one are durable: by SyncNames after Claim and SyncRecord after
  // TakeOver, or by another sync that began after the step and that the caller notes.
  [[nodiscard]] static Result<std::unique_ptr<Manifest>> Claim(io::Directory& directory, const std::string& region,
                                                               std::uint64_t open_number, const RegionPast& past);
  [[nodiscard]] Status SyncNames();
  [[nodiscard]] Status TakeOver(const RegionPast& past, const Examine& examine);
  [[nodiscard]] Status SyncRecord();
  void NoteNamesDurable() { names_durable_ = true; }
  void NoteRecordDurable();
  // Returns the file of the first record, which TakeOver has written.
  [[nodiscard]] io::WritableFile& file() { return file_.writer->file(); }

  // Writes the first manifest of a region before its first opening, from `state` with number `number` (S37: numbered
  // build output). It is written under another name and synced, then renamed, and the directory synced: it exists with
  // its state, or not at all.
  [[nodiscard]] static Status Publish(io::Directory& directory, const std::string& region, std::uint64_t number,
                                      const ManifestState& state);

  // Records that this manifest has a state (ownership.h); durable with the directory's next sync. Append calls it too.
  [[nodiscard]] Status SayOpened();
  // Syncs the directory (names of new files and, once, the mark of SayOpened), appends and syncs. kNoSpace: the
  // manifest is unchanged. The record is valid once the caller's CHECK has passed after it.
  [[nodiscard]] Status Append(const ManifestEdit& edit);
  // Reserves the space that Append needs for `edit` and one file more, whose keys have `key_bytes` together. Call it
  // before that file is written, because a file that no manifest names is useless. kNoSpace: nothing was written.
  [[nodiscard]] Status MakeRoom(const ManifestEdit& edit, std::size_t key_bytes);
  // S62: when the records after the first one outweigh it by more than `slack_bytes`, writes the state into a new file,
  // tmp.<name>, syncs it, and renames it over this opening's manifest. Call it only after the CHECK that followed the
  // last Append. Returns true when it was rewritten. After an error nothing has changed, and a later call retries. If
  // it is unknown which of the two files has the name, the process ends, as after a failed sync.
  [[nodiscard]] Result<bool> RewriteIfLarge(std::uint64_t slack_bytes);
  [[nodiscard]] std::uint64_t bytes() const { return file_.writer->end_offset(); }
  // Returns the state with all appended edits.
  [[nodiscard]] const ManifestState& state() const { return state_; }

 private:
  // A manifest file of this opening, and its space on the disk.
  struct File {
    std::unique_ptr<io::RecordWriter> writer;
    SpaceReserve space{0, 4096};
    std::uint64_t next_record = 1;
    std::uint64_t state_bytes = 0;  // up to the end of the first record
  };
  Manifest(io::Directory& directory, std::string region, std::uint64_t open_number)
      : directory_(directory), region_(std::move(region)), open_number_(open_number) {}
  // Writes the first record; not durable.
  Result<File> Begin(std::unique_ptr<io::WritableFile> file) const;
  Result<File> BeginDurably(std::unique_ptr<io::WritableFile> file) const;
  [[nodiscard]] static Status FillAhead(File& file, std::uint64_t payload);
  [[nodiscard]] Status Reserve(File& file, std::uint64_t payload) const;
  // Not durable before SyncFile.
  Status Write(File& file, std::uint8_t type, const ManifestEdit& edit) const;
  static Status SyncFile(File& file);
  Status RenameOver(const std::string& written) const;

  io::Directory& directory_;
  const std::string region_;
  const std::uint64_t open_number_;
  std::uint64_t opened_before_ = 0;            // the highest opened.<n> that the claim has seen
  bool opened_ = false;                        // SayOpened has made the mark of this opening
  bool opened_durable_ = false;                // the directory was synced since
  std::vector<std::string> names_;             // from Claim to TakeOver: the names that the claim has seen
  std::unique_ptr<io::WritableFile> claimed_;  // from Claim to TakeOver: the empty file
  bool names_durable_ = false;
  bool record_durable_ = false;
  File file_;
  ManifestState state_;
};

// Determines which files of a region's directory are no longer needed (S32: two-stage cleaner). Pure.
//
// Returns those of `names`, a listing of the directory, that no opening from `open_number` on reads. `state` is the
// state of opening `open_number` at its last CHECK.
// - Store files of lower openings that `state` does not name. Excluded are files of this opening, because it may be
//   writing one that no manifest names yet (its compactions mark the files that they replace), and files of higher
//   openings, because a late opening must not touch the files of its successors.
// - Manifests of lower openings: their states were copied. Their marks were renamed when this opening claimed the
//   region; a mark that a late duplicate has left is removed now.
// - Recovered edits that `state` lists as consumed (S25: recovered edits stay until flushed). Others wait for the next
// opening.
// A file of a parent that was split has other links in its daughters' directories, which manage them themselves (S44:
// own name for each file).
[[nodiscard]] std::vector<std::string> UnneededFiles(const std::vector<std::string>& names, const ManifestState& state,
                                                     std::uint64_t open_number);

}  // namespace ratchet::regionserver
