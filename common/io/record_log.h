// Framed, checksummed records in a file that is written once, and a reader that distinguishes a torn tail from damage.
//
// File:   header  {magic "RATCHLOG", u32 format, u32 kind, u64 file_id, u32 zero, u32 crc32c of the bytes before}  32
//         bytes
//         record* {u32 crc32c, u32 length, u64 sequence, u32 unsynced, u8 type, u8 version, u16 zero, payload, zeros up
//         to a multiple of 8}; all numbers little-endian. Zeros up to the end of the file are preallocated space. The
//         checksum also covers file_id and the record's own offset, so that a record is valid only where it was
//         written. "unsynced" is the distance back to the offset up to which the file was known to be durable when the
//         record was written.
//
// A write that was never synced may be missing in any part, and whole records after the hole may have survived. So a
// bad record at X is a TORN TAIL (never acknowledged: cut there) in all cases but two: a valid record further on shows
// that X was durable before it was written, or there are bytes further than one unsynced group can reach. In these
// cases acknowledged bytes are lost, which is DAMAGE.
//
// Threads: a writer belongs to one thread; readers are pure functions of the bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/io/disk.h"
#include "common/io/log_bytes.h"

namespace ratchet::io {

inline constexpr std::size_t kLogHeaderSize = 32;
inline constexpr std::size_t kRecordHeaderSize = 24;
inline constexpr std::size_t kRecordAlignment = 8;
inline constexpr std::uint32_t kMaxRecordLength = 1U << 30;
// A writer refuses to gather more than this between two syncs; the reader relies on it. Larger than any one record.
inline constexpr std::uint64_t kMaxUnsyncedBytes = std::uint64_t{kMaxRecordLength} + (1U << 20);

struct LogIdentity {
  std::uint32_t kind = 0;     // the sort of log; chosen by its owner ('S' procedure store, 'L' server log, ...)
  std::uint64_t file_id = 0;  // differs for any two files of the owner: LogFileId(unique name)
};
// A 64-bit hash of a name that is unique among all files of one kind ("<server>/log.0000000001").
[[nodiscard]] std::uint64_t LogFileId(std::string_view unique_name);

struct Record {
  std::uint64_t offset = 0;  // of its header
  std::uint64_t end = 0;     // offset of the next byte
  std::uint64_t sequence = 0;
  std::uint8_t type = 0;     // chosen by the owner, not 0
  std::uint8_t version = 0;  // of the payload's encoding
  std::string_view payload;  // points into the reader's bytes; for a file: valid until the next record is read
};

// Gathers records in memory; Flush writes them with one Append, Sync makes them durable. After an error from Flush or
// Sync the writer must not be used again.
class RecordWriter {
 public:
  // `file` is empty (or zero-filled). The first bytes that it gathers are the file header.
  RecordWriter(std::unique_ptr<WritableFile> file, LogIdentity identity);
  ~RecordWriter();
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;

  // kInvalidArgument when the sequence is below the last one; kResourceExhausted when the record or the unsynced group
  // would be too large. In both cases the record is left out, and the writer can be used further.
  Status Add(std::uint8_t type, std::uint8_t version, std::uint64_t sequence, std::string_view payload);
  // Adds a record without a copy: append the payload to the returned string (never change its content), then End.
  std::string& Begin();
  Status End(std::uint8_t type, std::uint8_t version, std::uint64_t sequence);
  void Abandon();  // forgets the record that Begin started

  Status Flush();
  Status Sync();  // flushes first
  // Call after another sync that began after Flush and covers the file.
  void NoteDurable() { durable_ = written_; }

  [[nodiscard]] std::uint64_t end_offset() const { return written_ + buffer_.size(); }  // gathered bytes included
  [[nodiscard]] std::uint64_t durable_offset() const { return durable_; }
  [[nodiscard]] std::uint64_t last_sequence() const { return last_sequence_; }
  [[nodiscard]] WritableFile& file() { return *file_; }

 private:
  std::unique_ptr<WritableFile> file_;
  const LogIdentity identity_;
  std::string buffer_;        // gathered, not written
  std::size_t begun_at_ = 0;  // start of the record between Begin and End, in buffer_
  bool begun_ = false;
  std::uint64_t written_ = 0;
  std::uint64_t durable_ = 0;
  std::uint64_t last_sequence_ = 0;
};

enum class LogEnd : std::uint8_t {
  kClean,   // the bytes end, or only zeros follow
  kTorn,    // the following bytes were never synced; cut at `offset`
  kDamage,  // acknowledged bytes are wrong at `offset`
};

struct LogTail {
  LogEnd end = LogEnd::kClean;
  std::uint64_t offset = 0;         // end of the last good record (0: not even the file header is good)
  std::uint64_t last_sequence = 0;  // of the last good record
  std::string reason;               // for torn and damage: the reason
  std::uint64_t next_valid = 0;     // for damage: offset of the next valid record, 0 when none was found
};

class RecordReader {
 public:
  struct Options {
    // The identity that the file must have. All zero: accept the file header (for tools that do not know the identity).
    LogIdentity expected;
    // Read up to this offset only (a seal). Every byte below it was accepted once, so anything bad there is damage.
    std::uint64_t sealed_length = UINT64_MAX;
    // The offset of a record, from an earlier reading: continues there. 0: at the first record.
    std::uint64_t start = 0;
  };
  // `bytes` must outlive the reader and the payloads that it hands out.
  RecordReader(std::string_view bytes, Options options);
  // The first `size` bytes of a file, which outlives the reader: read piece by piece, holding at most the largest
  // record.
  RecordReader(const ReadableFile& file, std::uint64_t size, Options options);

  // Returns true if `record` is the next one, false at the end; see tail().
  bool Next(Record* record);
  [[nodiscard]] const LogTail& tail() const { return tail_; }
  // The disk's error that ended the reading. tail() is then no evidence about the file (it is damage, so that it is not
  // treated as a torn tail).
  [[nodiscard]] const Status& status() const { return bytes_.status(); }
  // For tools: continues at the next valid record after damage. False when there is none.
  bool SkipDamage();
  [[nodiscard]] LogIdentity identity() const { return identity_; }

 private:
  void ReadHeader();
  bool ParseAt(std::uint64_t offset, Record* record, std::string* why);
  void End(std::string why);
  // Returns the offset of the next valid record after `bad`; sets *proven if such a record was written after `bad` was
  // durable. The cost is linear in the file size, whatever lengths the bytes claim, and limited by kMaxUnsyncedBytes:
  // more bad bytes than that are damage by themselves, and no log of this program has that many.
  std::uint64_t FindNext(std::uint64_t bad, bool* proven);

  const Options options_;
  LogBytes bytes_;  // up to the seal
  LogIdentity identity_;
  bool ended_ = false;
  LogTail tail_;  // tail_.offset is where the next record is expected
};

}  // namespace ratchet::io
