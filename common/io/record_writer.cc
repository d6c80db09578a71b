#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "common/io/record_format.h"
#include "common/io/record_log.h"

namespace ratchet::io {

std::uint64_t LogFileId(std::string_view unique_name) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a: permanently stable; the only requirement is that files differ
  for (const char c : unique_name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash == 0 ? 1 : hash;
}

RecordWriter::RecordWriter(std::unique_ptr<WritableFile> file, LogIdentity identity)
    : file_(std::move(file)), identity_(identity), written_(file_->size()) {
  RATCHET_CHECK(written_ == 0, "a record log must begin in an empty file, but this one has {} bytes", written_);
  buffer_.resize(kLogHeaderSize, '\0');
  kLogMagic.copy(buffer_.data(), kLogMagic.size());
  PutFixed(buffer_.data() + LogHeaderLayout::kFormat, kLogFormat);
  PutFixed(buffer_.data() + LogHeaderLayout::kKind, identity_.kind);
  PutFixed(buffer_.data() + LogHeaderLayout::kFileId, identity_.file_id);
  PutFixed(buffer_.data() + LogHeaderLayout::kCrc, Crc32c(std::string_view(buffer_).substr(0, LogHeaderLayout::kCrc)));
}

RecordWriter::~RecordWriter() = default;

Status RecordWriter::Add(std::uint8_t type, std::uint8_t version, std::uint64_t sequence, std::string_view payload) {
  Begin().append(payload);
  return End(type, version, sequence);
}

std::string& RecordWriter::Begin() {
  RATCHET_CHECK(!begun_, "Begin without End");
  begun_ = true;
  begun_at_ = buffer_.size();
  buffer_.append(kRecordHeaderSize, '\0');
  return buffer_;
}

Status RecordWriter::End(std::uint8_t type, std::uint8_t version, std::uint64_t sequence) {
  RATCHET_CHECK(begun_ && type != 0, "End without Begin, or record type 0");
  begun_ = false;
  // An error and not a CHECK, because callers take sequences from files that other processes wrote.
  if (sequence < last_sequence_) {
    buffer_.resize(begun_at_);
    return Error(Code::kInvalidArgument, fmt::format("a log record of sequence {} after {}", sequence, last_sequence_));
  }
  const std::uint64_t length = buffer_.size() - begun_at_ - kRecordHeaderSize;
  const std::uint64_t offset = written_ + begun_at_;
  const std::uint64_t unsynced = offset - durable_;
  if (length > kMaxRecordLength || unsynced + length + kRecordHeaderSize > kMaxUnsyncedBytes) {
    buffer_.resize(begun_at_);
    return Error(
        Code::kResourceExhausted,
        fmt::format("a log record of {} bytes exceeds the limit; {} bytes before it are not synced", length, unsynced));
  }
  char* const header = buffer_.data() + begun_at_;
  PutFixed(header + RecordHeaderLayout::kLength, static_cast<std::uint32_t>(length));
  PutFixed(header + RecordHeaderLayout::kSequence, sequence);
  PutFixed(header + RecordHeaderLayout::kUnsynced, static_cast<std::uint32_t>(unsynced));
  PutFixed(header + RecordHeaderLayout::kType, type);
  PutFixed(header + RecordHeaderLayout::kVersion, version);
  PutFixed(header + RecordHeaderLayout::kZero, std::uint16_t{0});
  const std::string_view record(header, buffer_.size() - begun_at_);
  PutFixed(header + RecordHeaderLayout::kCrc, RecordCrc(identity_.file_id, offset, record));
  buffer_.resize(AlignRecord(buffer_.size()), '\0');
  last_sequence_ = sequence;
  return Ok();
}

void RecordWriter::Abandon() {
  RATCHET_CHECK(begun_, "Abandon without Begin");
  begun_ = false;
  buffer_.resize(begun_at_);
}

Status RecordWriter::Flush() {
  RATCHET_CHECK(!begun_, "Flush between Begin and End");
  if (buffer_.empty()) return Ok();
  RATCHET_TRY(file_->Append(buffer_));
  written_ += buffer_.size();
  buffer_.clear();
  return Ok();
}

Status RecordWriter::Sync() {
  RATCHET_TRY(Flush());
  RATCHET_TRY(file_->Sync());
  durable_ = written_;
  return Ok();
}

}  // namespace ratchet::io
