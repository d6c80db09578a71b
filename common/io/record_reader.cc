#include <algorithm>

#include "common/base/check.h"
#include "common/io/range_checksums.h"
#include "common/io/record_format.h"
#include "common/io/record_log.h"

namespace ratchet::io {
namespace {

constexpr std::size_t kStep = 1U << 20;         // of a file, read at once
constexpr std::size_t kSearchStep = 64U << 10;  // while searching: the checksums
constexpr std::size_t kNearStep = 512;          // and the ends of possible records

// The values in a record's header. The rest of the record is not known yet.
struct Head {
  std::uint32_t crc = 0;
  std::uint32_t length = 0;
  std::uint64_t sequence = 0;
  std::uint32_t unsynced = 0;
  std::uint8_t type = 0;
  std::uint8_t version = 0;
};

// Returns null, or the reason why no record can begin with `header` at `offset` when `left` bytes follow.
const char* ReadHead(std::string_view header, std::uint64_t offset, std::uint64_t left, Head* head) {
  if (header.size() < kRecordHeaderSize) return "a record header is cut short";
  const char* const bytes = header.data();
  head->type = GetFixed<std::uint8_t>(bytes + RecordHeaderLayout::kType);
  if (head->type == 0 || GetFixed<std::uint16_t>(bytes + RecordHeaderLayout::kZero) != 0)
    return "a record header is bad";
  head->length = GetFixed<std::uint32_t>(bytes + RecordHeaderLayout::kLength);
  if (head->length > kMaxRecordLength || head->length > left - kRecordHeaderSize)
    return "a record is longer than the file";
  head->unsynced = GetFixed<std::uint32_t>(bytes + RecordHeaderLayout::kUnsynced);
  if (head->unsynced > offset) return "a record header is bad";
  head->crc = GetFixed<std::uint32_t>(bytes);
  head->sequence = GetFixed<std::uint64_t>(bytes + RecordHeaderLayout::kSequence);
  head->version = GetFixed<std::uint8_t>(bytes + RecordHeaderLayout::kVersion);
  return nullptr;
}

bool PaddingIsGood(LogBytes& bytes, std::uint64_t from, std::uint64_t end) {
  const std::string_view padding = bytes.At(from, end - from);
  return padding.size() == end - from && padding.find_first_not_of('\0') == std::string_view::npos;
}

}  // namespace

RecordReader::RecordReader(std::string_view bytes, Options options)
    : options_(options), bytes_(bytes), identity_(options.expected) {
  bytes_.Limit(options.sealed_length);
  ReadHeader();
}

RecordReader::RecordReader(const ReadableFile& file, std::uint64_t size, Options options)
    : options_(options), bytes_(file, size, kStep), identity_(options.expected) {
  bytes_.Limit(options.sealed_length);
  ReadHeader();
}

void RecordReader::ReadHeader() {
  const std::string_view header = bytes_.At(0, kLogHeaderSize);
  if (header.size() < kLogHeaderSize) return End("the file header is cut short");
  const std::uint32_t crc = Crc32c(header.substr(0, LogHeaderLayout::kCrc));
  if (!header.starts_with(kLogMagic) || crc != GetFixed<std::uint32_t>(header.data() + LogHeaderLayout::kCrc)) {
    return End("the file header fails its checksum");
  }
  const LogIdentity found{GetFixed<std::uint32_t>(header.data() + LogHeaderLayout::kKind),
                          GetFixed<std::uint64_t>(header.data() + LogHeaderLayout::kFileId)};
  const auto format = GetFixed<std::uint32_t>(header.data() + LogHeaderLayout::kFormat);
  const bool known = options_.expected.file_id != 0;
  if (format != kLogFormat || (known && (found.kind != identity_.kind || found.file_id != identity_.file_id))) {
    ended_ = true;  // a good checksum: not a torn write, but another file or another program's
    tail_.end = LogEnd::kDamage;
    tail_.reason = fmt::format("the file header says format {}, kind {:#x}, file {:016x}; expected {}, {:#x}, {:016x}",
                               format, found.kind, found.file_id, kLogFormat, identity_.kind, identity_.file_id);
    return;
  }
  identity_ = found;
  tail_.offset = std::max<std::uint64_t>(options_.start, kLogHeaderSize);
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

bool RecordReader::ParseAt(std::uint64_t offset, Record* record, std::string* why) {
  const auto fail = [why](const char* text) {
    *why = text;
    return false;
  };
  Head head;
  const std::uint64_t left = offset < bytes_.size() ? bytes_.size() - offset : 0;
  if (const char* bad = ReadHead(bytes_.At(offset, kRecordHeaderSize), offset, left, &head); bad != nullptr)
    return fail(bad);
  const std::uint64_t whole = kRecordHeaderSize + head.length;
  const std::uint64_t end = offset + AlignRecord(whole);
  // Reads in pieces until the bytes are known to be a record, because an invalid length may be large.
  const std::uint32_t place = PlaceCrc(identity_.file_id, offset);
  if (ChecksumOf(bytes_, offset + RecordHeaderLayout::kLength, offset + whole, place) != head.crc)
    return fail("a record fails its checksum");
  if (end > bytes_.size() || !PaddingIsGood(bytes_, offset + whole, end)) {
    return fail("a record's padding is cut short or not zero");
  }
  const std::string_view payload = bytes_.At(offset, whole);
  if (payload.size() < whole) return fail("a record cannot be read");
  *record = Record{offset, end, head.sequence, head.type, head.version, payload.substr(kRecordHeaderSize)};
  return true;
}

std::uint64_t RecordReader::FindNext(std::uint64_t bad, bool* proven) {
  std::uint64_t first = 0;
  std::uint64_t at = std::max<std::uint64_t>(bad + kRecordAlignment, kLogHeaderSize);
  LogBytes ahead = bytes_.Another(kSearchStep);
  LogBytes near_end = bytes_.Another(kNearStep);
  LogBytes near_begin = bytes_.Another(kSearchStep);
  RangeChecksums checksums(ahead, at);
  const std::uint64_t limit = std::min(bytes_.size(), bad + kMaxUnsyncedBytes);
  while (at + kRecordHeaderSize <= limit) {
    Head head;
    const bool may_be = ReadHead(bytes_.At(at, kRecordHeaderSize), at, bytes_.size() - at, &head) == nullptr;
    const std::uint64_t whole = kRecordHeaderSize + head.length;
    const std::uint64_t end = at + AlignRecord(whole);
    if (!may_be || end > bytes_.size() ||
        checksums.Of(at + RecordHeaderLayout::kLength, near_begin, at + whole, near_end,
                     PlaceCrc(identity_.file_id, at)) != head.crc ||
        !PaddingIsGood(near_end, at + whole, end)) {
      at += kRecordAlignment;
      continue;
    }
    if (first == 0) first = at;
    if (at - head.unsynced > bad) {
      *proven = true;
      return first;
    }
    at = end;
  }
  // Unreadable bytes prove nothing, and must not be treated as a torn tail.
  for (const LogBytes* part : {&bytes_, &ahead, &near_end, &near_begin}) *proven = *proven || !part->status().ok();
  return first;
}

// There is no good record at tail_.offset: decides whether it is the clean end, a torn tail or damage.
void RecordReader::End(std::string why) {
  ended_ = true;
  const std::uint64_t at = tail_.offset;
  const bool sealed = options_.sealed_length != UINT64_MAX;
  if (bytes_.status().ok() && (sealed ? at == options_.sealed_length : OnlyZeros(bytes_, at))) return;
  bool proven = false;
  if (bytes_.status().ok()) tail_.next_valid = FindNext(at, &proven);
  proven = proven || sealed;
  if (!proven && bytes_.size() > at + kMaxUnsyncedBytes) proven = !OnlyZeros(bytes_, at + kMaxUnsyncedBytes);
  tail_.reason = bytes_.status().ok() ? std::move(why) : "cannot be read: " + bytes_.status().error().ToString();
  tail_.end = proven || !bytes_.status().ok() ? LogEnd::kDamage : LogEnd::kTorn;
  if (sealed) tail_.reason += fmt::format(" (below the sealed length {})", options_.sealed_length);
}

}  // namespace ratchet::io
