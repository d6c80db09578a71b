// Reads a procedure store's directory: which segments count, up to which length, and which records are live (S7: seal
// before acting; S10: low-water record before removal; S11: one commit per pid).
//
// The newest segment with a valid start is the head. Its start names every older segment that counts, with the length
// that was accepted. The reader reads no other file, so later writes and new segments of a deposed owner change no
// reader's view. In the head itself a torn tail is cut. Damage is: anything bad below an accepted length, a missing
// segment, or a version that does not follow.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <roaring/roaring64map.hh>

#include "common/base/result.h"
#include "common/io/disk.h"
#include "common/io/record_log.h"
#include "procedure/api/store.h"
#include "procedure/store/format.h"
#include "procedure/store/pid_table.h"

namespace ratchet::procedure {

// The live records of a procedure store, as its segments show, and the damage in them.

enum class DamageKind : std::uint8_t {
  kBytes,  // the bytes cannot be read, or no store writes them
  kOrder,  // a readable record at a place where it cannot follow, S11 (one commit per pid)
};

struct StoreDamage {
  std::string file;
  std::uint64_t offset = 0;
  std::string reason;
  DamageKind kind = DamageKind::kBytes;
  [[nodiscard]] std::string ToString() const;  // "segment.3.7 at offset 4711: a record fails its checksum"
};

enum class RecordOrder : std::uint8_t {
  kStrict,  // a version that does not follow is damage (the store itself)
  kGaps,    // repair: versions may be missing, since damaged records were dropped
  kAny,     // repair: the highest version wins, wherever it is
};

struct LoadedRecord {
  ProcedureUpsert record;     // pid 0: deleted since
  std::uint32_t segment = 0;  // index into StoreContents::chain
};

struct LoadedSystemRecord {
  std::string value;
  std::uint32_t segment = 0;
};

struct StoreContents {
  std::vector<ChainEntry> chain;  // segments that were read, oldest first; the last one is the head, if any was found
  bool has_head = false;
  std::vector<LoadedRecord> records;
  PidTable index;  // version as stored; place: index into records
  std::map<std::string, LoadedSystemRecord, std::less<>> system;
  // Deleted in the head while an older segment may still hold a record of it.
  std::vector<ProcId> head_deletes;
  std::vector<std::string> head_system_deletes;
  SegmentId low_water;
  ProcId max_pid;
  std::uint64_t last_sequence = 0;
  std::vector<std::string> notes;
  std::vector<StoreDamage> damage;
};

enum class OnDamage : std::uint8_t {
  kStop,  // stop at the first damage (the store itself)
  kCut,   // drop what follows it in that segment (repair)
  kSkip,  // drop only the bad record, continue at the next valid one (repair)
};

struct ReadOptions {
  Epoch below;  // only segments of older epochs; 0: all
  OnDamage on_damage = OnDamage::kStop;
  RecordOrder order = RecordOrder::kStrict;
  bool sync = false;                // make durable what was read (S8: act only on durable records)
  std::set<std::string> leave_out;  // repair: segments to treat as empty
};

// Returns an error only when the disk fails; damage is reported in the contents. Takes memory for live records only,
// whatever lengths the segments have.
[[nodiscard]] Result<StoreContents> ReadStore(io::Directory& directory, const ReadOptions& options);

// The reason why an entry was not applied.
struct Refused {
  std::string reason;
  DamageKind kind = DamageKind::kBytes;
};

// Applies the entries of frames, oldest first, to StoreContents, and refuses what cannot have been written, S11 (one
// commit per pid).
class Replay {
 public:
  Replay(StoreContents& contents, RecordOrder order) : contents_(contents), order_(order) {}

  // `segment`: index into contents.chain; `in_head`: it is the last one. If it returns false, `why` describes the error
  // in the entry.
  bool Apply(const FrameEntry& entry, std::uint32_t segment, bool in_head, Refused* why);
  // Removes what the head deleted; call once, at the end.
  void Finish();

 private:
  [[nodiscard]] bool MayFollow(const FrameEntry& entry, const LoadedRecord& known) const;
  bool Upsert(const FrameEntry& entry, std::uint32_t segment, bool in_head, Refused* why);
  bool Delete(ProcId pid, bool in_head, Refused* why);

  StoreContents& contents_;
  const RecordOrder order_;
  Roaring64Map deleted_;
  Roaring64Map in_older_;  // pids with a record in a segment before the head
  std::set<std::string> system_in_older_;
  std::set<std::string> system_deleted_in_head_;
  std::vector<ProcId> deleted_in_head_;
};

// Copies a damaged file, `name`, into `quarantine` under the same name, or name.1, name.2, ... when taken; durable.
// Returns the copy's path.
[[nodiscard]] Result<std::string> QuarantineCopy(io::Directory& from, const std::string& name,
                                                 io::Directory& quarantine);

}  // namespace ratchet::procedure
