#include "common/io/torn_write.h"

#include <algorithm>

#include "common/io/record_format.h"

namespace ratchet::io {
namespace {

// The last sector that was kept is full of the record, so it ends with few zeros. More zeros mean that the record ended
// there.
constexpr std::size_t kFewZeros = 64;
constexpr std::uint64_t kPageSize = 4096;

}  // namespace

bool CouldBeTorn(LogBytes& bytes, std::uint64_t offset) {
  const std::string header(bytes.At(offset, kRecordHeaderSize));
  std::uint64_t begin = offset;
  std::uint64_t last = 0;
  while (begin < bytes.size()) {
    const std::uint64_t end = (begin / kSectorSize + 1) * kSectorSize;
    const std::string_view sector = bytes.At(begin, end - begin);
    const std::size_t byte = sector.find_last_not_of('\0');
    if (byte == std::string_view::npos) {
      if (begin == offset || !OnlyZeros(bytes, begin)) return true;  // the record is missing, or a part of it is
      break;
    }
    last = begin + byte;
    begin = end;
  }
  // Or all sectors after the last one with data are missing: then the record's length reaches further.
  if (begin == offset || header.size() < kRecordHeaderSize) return true;
  const auto length = GetFixed<std::uint32_t>(header.data() + RecordHeaderLayout::kLength);
  const bool goes_on = offset + kRecordHeaderSize + length > begin;
  return goes_on && begin - 1 - last < kFewZeros;
}

bool WasWrittenWhole(LogBytes& bytes, std::uint64_t offset) {
  const std::string_view header = bytes.At(offset, kRecordHeaderSize);
  if (offset < kLogHeaderSize || header.size() < kRecordHeaderSize) return false;
  const auto length = GetFixed<std::uint32_t>(header.data() + RecordHeaderLayout::kLength);
  const auto unsynced = GetFixed<std::uint32_t>(header.data() + RecordHeaderLayout::kUnsynced);
  const bool plausible = GetFixed<std::uint8_t>(header.data() + RecordHeaderLayout::kType) != 0 && unsynced <= offset &&
                         GetFixed<std::uint16_t>(header.data() + RecordHeaderLayout::kZero) == 0 &&
                         length <= kMaxRecordLength;
  const std::uint64_t end = offset + kRecordHeaderSize + length;
  if (!plausible || AlignRecord(end) > bytes.size() || bytes.At(end - 1, 1) == std::string_view("\0", 1)) return false;
  for (std::uint64_t at = offset; at < end;) {
    const std::uint64_t next = std::min<std::uint64_t>(end, (at / kSectorSize + 1) * kSectorSize);
    if (AllZero(bytes.At(at, next - at))) return false;
    at = next;
  }
  const std::uint64_t page = offset / kPageSize * kPageSize;
  const bool in_known_page = end <= page + kPageSize && offset - unsynced > page;
  const bool filled_ahead = end + kPageSize <= bytes.size() && OnlyZeros(bytes, bytes.size() - kPageSize);
  return (in_known_page || filled_ahead) && bytes.status().ok();
}

}  // namespace ratchet::io
