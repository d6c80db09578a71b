// The bytes of a procedure store: the names of its files, the frames in its segments, and reading a segment piece by
// piece.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/io/record_log.h"

namespace ratchet::procedure {

// The files of a procedure store's directory.
//
//   claim.<epoch>              exists: this epoch was claimed; never removed (S9: claims are never removed)
//   segment.<epoch>.<number>   records of that epoch's owner, in order of (epoch, number)
//   spare.<epoch>.<number>     zero-filled and synced, nothing written yet: the next segment, or the reserve (S6:
//                              failed sync ends the process)
//   filling.<epoch>.<number>   an unfinished spare; useless once its maker has ended

struct SegmentId {
  Epoch epoch;
  std::uint64_t number = 0;  // from 1 in each epoch
  auto operator<=>(const SegmentId&) const = default;
};

inline constexpr std::string_view kSegmentPrefix = "segment";
inline constexpr std::string_view kSparePrefix = "spare";
inline constexpr std::string_view kFillingPrefix = "filling";

[[nodiscard]] std::string SegmentName(SegmentId id);
[[nodiscard]] std::string NumberedName(std::string_view prefix, SegmentId id);
[[nodiscard]] std::string ClaimName(Epoch epoch);
// nullopt: not a name of that form.
[[nodiscard]] std::optional<SegmentId> ParseNumberedName(std::string_view prefix, std::string_view name);
[[nodiscard]] std::optional<Epoch> ParseClaimName(std::string_view name);

// The payload of one log record of the store: everything that one sync makes durable.
//
// A frame is atomic, because it is one checksummed record; so is each batch in it. Encoding: varint wall clock in ms
// (for humans only), then entries {u8 kind, fields as varints and length-prefixed bytes}. See FrameEntry for the
// fields.

// In the log: kind of file, record type and the version of this encoding.
inline constexpr std::uint32_t kStoreLogKind = 0x53545250;  // "PRTS"
inline constexpr std::uint8_t kFrameRecord = 1;
inline constexpr std::uint8_t kFrameVersion = 1;
// Maximum size of a record in addition to its bytes: kind, pid, version, length.
inline constexpr std::uint64_t kRecordOverhead = 32;

// A segment as a later segment describes it.
struct ChainEntry {
  SegmentId id;
  std::uint64_t length = 0;  // accepted bytes, without the summary at its end
  std::uint64_t last_sequence = 0;
  // it was open at the claim: the seal's frame has copies of its live records (S8: act only on durable records)
  bool copied = false;
};

// The first entry of each segment; in an owner's first segment it is the seal, S7 (seal before acting).
struct SegmentStart {
  SegmentId id;
  ProcId max_pid;                 // largest ever stored
  SegmentId low_water;            // no older segment is needed (S10: low-water record before removal)
  std::vector<ChainEntry> chain;  // the older segments that exist, or were accepted, in order
  std::string owner;              // for humans
};

// The last entry of a segment that was rolled or stopped cleanly. Only a cross-check; the segment is complete without
// it.
struct SegmentSummary {
  std::uint64_t upserts = 0;
  std::uint64_t deletes = 0;
  std::string pids;  // Roaring64Map, portable format: which pids have records here
};

enum class EntryKind : std::uint8_t {
  kBatch = 1,         // sequence; the entries up to the next kBatch belong to it
  kUpsert = 2,        // pid, version, bytes
  kDelete = 3,        // pid
  kSystemPut = 4,     // key, bytes
  kSystemDelete = 5,  // key
  kLowWater = 6,      // segment
  kStart = 7,         // start
  kSummary = 8,       // summary
  kRewrite = 9,       // pid, version, bytes: the newest record of an older segment, written again
  kCopy = 10,         // pid, version, bytes: the newest record that a claimer found in the segment that was open (S8)
};

[[nodiscard]] constexpr bool IsRecord(EntryKind kind) {
  return kind == EntryKind::kUpsert || kind == EntryKind::kRewrite || kind == EntryKind::kCopy;
}

// One decoded entry; strings point into the frame.
struct FrameEntry {
  EntryKind kind = EntryKind::kBatch;
  std::uint64_t sequence = 0;
  ProcId pid;
  std::uint64_t version = 0;
  std::string_view key;
  std::string_view bytes;
  SegmentId segment;
  SegmentStart start;
  SegmentSummary summary;
};

// Appends entries to a string that the caller owns.
class FrameBuilder {
 public:
  FrameBuilder(std::string& out, std::int64_t wall_millis);
  void Batch(std::uint64_t sequence);
  void Upsert(ProcId pid, std::uint64_t version, std::string_view bytes) {
    Record(EntryKind::kUpsert, pid, version, bytes);
  }
  void Rewrite(ProcId pid, std::uint64_t version, std::string_view bytes) {
    Record(EntryKind::kRewrite, pid, version, bytes);
  }
  void Copy(ProcId pid, std::uint64_t version, std::string_view bytes) {
    Record(EntryKind::kCopy, pid, version, bytes);
  }
  void Delete(ProcId pid);
  void SystemPut(std::string_view key, std::string_view value);
  void SystemDelete(std::string_view key);
  void LowWater(SegmentId id);
  void Start(const SegmentStart& start);
  void Summary(const SegmentSummary& summary);

 private:
  void Record(EntryKind kind, ProcId pid, std::uint64_t version, std::string_view bytes);
  std::string& out_;
};

class FrameParser {
 public:
  explicit FrameParser(std::string_view payload);
  [[nodiscard]] std::int64_t wall_millis() const { return wall_millis_; }
  // Returns true with the next entry, false at the end; the end is clean if ok().
  bool Next(FrameEntry* entry);
  [[nodiscard]] bool ok() const { return ok_; }

 private:
  std::string_view rest_;
  std::int64_t wall_millis_ = 0;
  bool ok_ = true;
};

// The identity in a segment's file header.
[[nodiscard]] io::LogIdentity SegmentIdentity(SegmentId id);

// A segment that is read piece by piece, so that its length, which may be anything after damage, takes no memory, S91
// (lengths are checked). Owner: one reader, one thread.
class SegmentFile {
 public:
  SegmentFile() = default;  // refers to no file; only to be replaced
  static Result<SegmentFile> Open(io::Directory& directory, SegmentId id);

  // Reads the records below `length`. A reader whose status() is an error has not reached the end: see CheckRead.
  [[nodiscard]] io::RecordReader Records(std::uint64_t length = UINT64_MAX) const {
    return {*file_, size_, {SegmentIdentity(id_), length}};
  }
  [[nodiscard]] io::LogBytes Bytes() const;
  [[nodiscard]] SegmentId id() const { return id_; }
  // Returns the disk's error, which is not evidence about the segment.
  [[nodiscard]] Status CheckRead(const io::RecordReader& reader) const;

 private:
  SegmentFile(SegmentId id, std::unique_ptr<io::ReadableFile> file, std::uint64_t size)
      : id_(id), file_(std::move(file)), size_(size) {}

  SegmentId id_;
  std::unique_ptr<io::ReadableFile> file_;
  std::uint64_t size_ = 0;
};

}  // namespace ratchet::procedure
