// Reads a procedure store's directory: which segments count, how far, and what lives in them (rules S7, S10, S11).
//
// The newest segment with a valid start is the head. Its start names every older segment that counts, with the length
// that was accepted; nothing else is read, so a zombie's later writes and its new segments change no reader's view. In
// the head itself a torn tail is cut. Anything bad below an accepted length, a missing segment, or a version that does
// not follow is damage.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/io/disk.h"
#include "common/io/record_log.h"
#include "procedure/store/frame.h"
#include "procedure/store/pid_table.h"
#include "procedure/store/procedure_store.h"
#include "procedure/store/segment_file.h"

namespace ratchet::procedure {

enum class DamageKind : std::uint8_t {
  kBytes,  // what stands there cannot be read, or no store writes it
  kOrder,  // a readable record at a place where it cannot follow (S11)
};

struct StoreDamage {
  std::string file;
  std::uint64_t offset = 0;
  std::string reason;
  DamageKind kind = DamageKind::kBytes;
  [[nodiscard]] std::string ToString() const;  // "segment.3.7 at offset 4711: a record fails its checksum"
};

enum class OnDamage : std::uint8_t {
  kStop,  // stop at the first damage (the store itself)
  kCut,   // drop what follows it in that segment (repair)
  kSkip,  // drop only what is bad, go on at the next valid record (repair)
};

enum class RecordOrder : std::uint8_t {
  kStrict,  // a version that does not follow is damage (the store itself)
  kGaps,    // repair: versions may be missing, since damaged records were dropped
  kAny,     // repair: the highest version wins, wherever it stands
};

struct ReadOptions {
  Epoch below;  // only segments of older epochs; 0: all
  OnDamage on_damage = OnDamage::kStop;
  RecordOrder order = RecordOrder::kStrict;
  bool sync = false;                // make durable what was read (S8)
  std::set<std::string> leave_out;  // repair: segments to treat as empty
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
  std::vector<ChainEntry> chain;  // what was read, oldest first; the last one is the head, if any was found
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

// An error only when the disk fails; damage is reported in the contents. Takes memory for what lives, whatever lengths
// the segments have.
[[nodiscard]] Result<StoreContents> ReadStore(io::Directory& directory, const ReadOptions& options);

}  // namespace ratchet::procedure
