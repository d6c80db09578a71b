// The manifest of one opening of a region: which store files are live, up to which sequence, and what else survives
// (S21).
//
// manifest.<open_seq>: a record log of its own kind. First record: the whole state, taken over from the opening before.
// Then one record for each flush and compaction; when these outweigh the state, the file is replaced by one that begins
// with the whole state again (S62). A store file lives only through the manifest of the highest opening; so whatever an
// older opening still writes is invisible. A manifest without its first record belongs to an opening that died early,
// and the one before it still counts; unless something shows that it has had one (S53, ownership.h).
//
// Threads: one at a time (the region's file work); the reading functions from any thread.
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
#include "regionserver/log/log_entry.h"
#include "regionserver/log/space_reserve.h"
#include "regionserver/store/store_file.h"

namespace ratchet::regionserver {

inline constexpr std::uint32_t kManifestKind = 'M';

// FamilyDescriptor::added_by by name.
using FamilyIds = std::map<std::string, std::uint64_t, std::less<>>;

struct ManifestState {
  std::uint64_t flushed_sequence = 0;                 // everything at or below it is in `files`
  std::int64_t greatest_timestamp = 0;                // that the server has assigned in this region (S27)
  std::vector<StoreFileInfo> files;                   // live
  std::set<std::string, std::less<>> consumed_edits;  // recovered edits files that `files` cover wholly (S25)
  std::vector<UsedNonce> nonces;                      // of entries at or below flushed_sequence (S29)
  std::int64_t nonces_since_ms = INT64_MIN;           // older ones were forgotten
  FamilyIds families;   // that it has been opened with; those with id 0 are left out (S49)
  bool closed = false;  // its last record is CLOSED (S35)
  // S113: where what was written to the region before, and is shipped, ends. One for each region that it was made of.
  std::vector<QueuePoint> shipped_until;
};

// What one record changes.
struct ManifestEdit {
  std::uint64_t flushed_sequence = 0;  // never lower than before
  std::int64_t greatest_timestamp = 0;
  std::vector<StoreFileInfo> added;
  std::vector<std::string> removed;  // no longer live; the master's cleaner may take them
  std::vector<std::string> consumed_edits;
  std::vector<UsedNonce> nonces;             // new ones
  std::int64_t nonces_since_ms = INT64_MIN;  // older ones are forgotten
  FamilyIds families;                        // new ones; their cells in the files that were live before are dead
  std::vector<QueuePoint> shipped_until;     // some: in the place of those that the state has
  // CLOSED (S35): besides shipped_until nothing else is in the edit, and nothing follows it. On the disk it is an edit
  // that removes a file of a name that no file has, so that servers of earlier versions, which write no such record,
  // read it too.
  bool closed = false;
};
void ApplyEdit(const ManifestEdit& edit, ManifestState& state);

// "tmp.manifest.<n>": a rewriting that has not taken its name.
inline constexpr std::string_view kUnfinishedManifestPrefix = "tmp.";

// The state in manifest.<open_seq>. kNotFound: it has no first record. kCorruption: damaged, or cut behind its first
// record. A torn tail is not an error.
[[nodiscard]] Result<ManifestState> ReadManifest(io::Directory& directory, std::string_view region,
                                                 std::uint64_t open_seq);

// What the master's order says of the region's past (S38, S53).
struct RegionPast {
  bool opened_before = false;  // the master knows of an earlier opening, so some manifest has a state
  std::uint64_t born = 0;      // number of the build that has made the region out of others: manifest.<born> or a
                               // higher one has a state. 0: it was created empty
};

// The highest manifest below `open_seq` that has a state; nothing when none has. `names`: as ClaimRegion has seen them.
// kCorruption as for Manifest::Create.
struct NumberedState {
  std::uint64_t number = 0;
  ManifestState state;
};
[[nodiscard]] Result<std::optional<NumberedState>> NewestState(io::Directory& directory,
                                                               const std::vector<std::string>& names,
                                                               const std::string& region, std::uint64_t open_seq);

class Manifest {
 public:
  // S21: creates manifest.<open_seq> exclusively, claims the region (ownership.h), then takes over the state of the
  // highest manifest below that has any, and records it durably. The caller CHECKs before it relies on it.
  // kAlreadyExists: this opening was made before. kFenced: a higher opening exists. kCorruption: what was before cannot
  // be read, or something newer than what can be read has been there (S53), or what `past` tells of is not there.
  // kInvalidArgument: opening 0.
  //
  // `examine` may refuse the state that was found; it also gets the names that the claim has seen. Nothing of a state
  // that was refused is taken over, so that the next opening looks again at what there was.
  using Examine = std::function<Status(const ManifestState& state, const std::vector<std::string>& names)>;
  [[nodiscard]] static Result<std::unique_ptr<Manifest>> Create(io::Directory& directory, const std::string& region,
                                                                std::uint64_t open_seq, const RegionPast& past = {},
                                                                const Examine& examine = {});
  // The first manifest of a region that no opening has had yet, made of `state` under number `number` (S37). Written
  // under another name and synced, then renamed, and the directory synced: it is there with its state, or not at all.
  [[nodiscard]] static Status Publish(io::Directory& directory, const std::string& region, std::uint64_t number,
                                      const ManifestState& state);

  // Syncs the directory (names of new files), appends and syncs. kNoSpace: it is as it was before. It counts once the
  // caller's CHECK has passed after it.
  [[nodiscard]] Status Append(const ManifestEdit& edit);
  // Reserves the space that Append needs for `edit` and one file more, whose keys have `key_bytes` together. Asked
  // before that file is written, as nothing would name it otherwise. kNoSpace: nothing was written.
  [[nodiscard]] Status MakeRoom(const ManifestEdit& edit, std::size_t key_bytes);
  // S62: when the records behind the first one outweigh it by more than `slack_bytes`, writes the state into a file of
  // its own, tmp.<name>, syncs that, and renames it over this opening's manifest. Only after the CHECK that followed
  // the last Append. True: it was rewritten. An error: nothing has changed, and a later call tries again. Not knowing
  // which of the two files has the name ends the process, like a failed sync.
  [[nodiscard]] Result<bool> RewriteIfLarge(std::uint64_t slack_bytes);
  [[nodiscard]] std::uint64_t bytes() const { return file_.writer->end_offset(); }
  // With everything appended so far.
  [[nodiscard]] const ManifestState& state() const { return state_; }

 private:
  // A file of this opening and what it owns of the disk.
  struct File {
    std::unique_ptr<io::RecordWriter> writer;
    SpaceReserve space{0, 4096};
    std::uint64_t next_record = 1;
    std::uint64_t state_bytes = 0;  // up to the end of the first record
  };
  Manifest(io::Directory& directory, std::string region, std::uint64_t open_seq)
      : directory_(directory), region_(std::move(region)), open_seq_(open_seq) {}
  Result<File> Begin(std::unique_ptr<io::WritableFile> file) const;
  [[nodiscard]] Status Reserve(File& file, std::uint64_t payload) const;
  Status Write(File& file, std::uint8_t type, const ManifestEdit& edit) const;
  Status TakeName(const std::string& written) const;

  io::Directory& directory_;
  const std::string region_;
  const std::uint64_t open_seq_;
  File file_;
  ManifestState state_;
};

}  // namespace ratchet::regionserver
