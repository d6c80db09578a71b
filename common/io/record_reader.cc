#include <algorithm>

#include "common/base/check.h"
#include "common/io/record_format.h"
#include "common/io/record_log.h"

namespace ratchet::io {
namespace {

bool AllZero(std::string_view bytes) {
  // The first byte is zero and each equals the one before it.
  return bytes.empty() || (bytes[0] == '\0' && bytes.substr(1) == bytes.substr(0, bytes.size() - 1));
}

}  // namespace

RecordReader::RecordReader(std::string_view bytes, Options options)
    : bytes_(bytes.substr(0, std::min<std::uint64_t>(bytes.size(), options.sealed_length))),
      options_(options),
      identity_(options.expected) {
  ReadHeader();
}

void RecordReader::ReadHeader() {
  if (bytes_.size() < kLogHeaderSize) return End("the file header is cut short");
  const std::uint32_t crc = Crc32c(bytes_.substr(0, LogHeaderLayout::kCrc));
  if (!bytes_.starts_with(kLogMagic) || crc != GetFixed<std::uint32_t>(bytes_.data() + LogHeaderLayout::kCrc)) {
    return End("the file header fails its checksum");
  }
  const LogIdentity found{GetFixed<std::uint32_t>(bytes_.data() + LogHeaderLayout::kKind),
                          GetFixed<std::uint64_t>(bytes_.data() + LogHeaderLayout::kFileId)};
  const auto format = GetFixed<std::uint32_t>(bytes_.data() + LogHeaderLayout::kFormat);
  const bool known = options_.expected.file_id != 0;
  if (format != kLogFormat || (known && (found.kind != identity_.kind || found.file_id != identity_.file_id))) {
    ended_ = true;  // a good checksum: this is no torn write, but another file or another program's
    tail_.end = LogEnd::kDamage;
    tail_.reason = fmt::format("the file header says format {}, kind {:#x}, file {:016x}; expected {}, {:#x}, {:016x}",
                               format, found.kind, found.file_id, kLogFormat, identity_.kind, identity_.file_id);
    return;
  }
  identity_ = found;
  tail_.offset = kLogHeaderSize;
}

bool RecordReader::Next(Record* record) {
  if (ended_) return false;
  std::string why;
  if (!ParseAt(tail_.offset, record, &why)) {
    End(std::move(why));
    return false;
  }
  if (record->sequence < tail_.last_sequence) {
    ended_ = true;
    tail_.end = LogEnd::kDamage;
    tail_.reason = fmt::format("sequence {} after {}", record->sequence, tail_.last_sequence);
    tail_.next_valid = record->end;
    return false;
  }
  tail_.offset = record->end;
  tail_.last_sequence = record->sequence;
  return true;
}

bool RecordReader::SkipDamage() {
  if (!ended_ || tail_.end != LogEnd::kDamage || tail_.next_valid == 0) return false;
  const std::uint64_t next = tail_.next_valid;
  const std::uint64_t last_sequence = tail_.last_sequence;
  tail_ = LogTail{};
  tail_.offset = next;
  tail_.last_sequence = last_sequence;
  ended_ = false;
  return true;
}

// Cheap tests first: a search for the next valid record tries every eighth byte of the file.
bool RecordReader::ParseAt(std::uint64_t offset, Record* record, std::string* why) const {
  const auto fail = [why](const char* text) {
    if (why != nullptr) *why = text;
    return false;
  };
  const std::uint64_t left = offset < bytes_.size() ? bytes_.size() - offset : 0;
  if (left < kRecordHeaderSize) return fail("a record header is cut short");
  const char* const header = bytes_.data() + offset;
  const auto type = GetFixed<std::uint8_t>(header + RecordHeaderLayout::kType);
  if (type == 0 || GetFixed<std::uint16_t>(header + RecordHeaderLayout::kZero) != 0)
    return fail("a record header is bad");
  const auto length = GetFixed<std::uint32_t>(header + RecordHeaderLayout::kLength);
  if (length > kMaxRecordLength || length > left - kRecordHeaderSize) return fail("a record is longer than the file");
  if (GetFixed<std::uint32_t>(header + RecordHeaderLayout::kUnsynced) > offset) return fail("a record header is bad");
  const std::string_view whole = bytes_.substr(offset, kRecordHeaderSize + length);
  if (RecordCrc(identity_.file_id, offset, whole) != GetFixed<std::uint32_t>(header))
    return fail("a record fails its checksum");
  const std::uint64_t end = offset + AlignRecord(whole.size());
  if (end > bytes_.size() || !AllZero(bytes_.substr(offset + whole.size(), end - offset - whole.size()))) {
    return fail("a record's padding is cut short or not zero");
  }
  *record = Record{offset,
                   end,
                   GetFixed<std::uint64_t>(header + RecordHeaderLayout::kSequence),
                   type,
                   GetFixed<std::uint8_t>(header + RecordHeaderLayout::kVersion),
                   whole.substr(kRecordHeaderSize)};
  return true;
}

std::uint64_t RecordReader::FindNext(std::uint64_t bad, bool* proven) const {
  std::uint64_t first = 0;
  Record record;
  std::uint64_t at = std::max<std::uint64_t>(bad + kRecordAlignment, kLogHeaderSize);
  while (at + kRecordHeaderSize <= bytes_.size()) {
    if (!ParseAt(at, &record, nullptr)) {
      at += kRecordAlignment;
      continue;
    }
    if (first == 0) first = at;
    const auto unsynced = GetFixed<std::uint32_t>(bytes_.data() + at + RecordHeaderLayout::kUnsynced);
    if (at - unsynced > bad) {
      *proven = true;
      return first;
    }
    at = record.end;
  }
  return first;
}

// Something other than a good record stands at tail_.offset: is it the clean end, a torn tail or damage?
void RecordReader::End(std::string why) {
  ended_ = true;
  const std::uint64_t at = tail_.offset;
  const bool sealed = options_.sealed_length != UINT64_MAX;
  if (sealed ? at == options_.sealed_length : AllZero(bytes_.substr(at))) return;
  tail_.reason = std::move(why);
  bool proven = false;
  tail_.next_valid = FindNext(at, &proven);
  proven = proven || sealed;
  if (!proven && bytes_.size() > at + kMaxUnsyncedBytes) {
    proven = !AllZero(bytes_.substr(at + kMaxUnsyncedBytes));
  }
  tail_.end = proven ? LogEnd::kDamage : LogEnd::kTorn;
  if (sealed) tail_.reason += fmt::format(" (below the sealed length {})", options_.sealed_length);
}

}  // namespace ratchet::io
