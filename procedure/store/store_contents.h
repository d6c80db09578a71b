// The live records of a procedure store, as its segments show, and the damage in them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "procedure/api/store.h"
#include "procedure/store/frame.h"
#include "procedure/store/pid_table.h"
#include "procedure/store/segment_file.h"

namespace ratchet::procedure {

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

}  // namespace ratchet::procedure
