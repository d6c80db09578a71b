#include "common/io/log_bytes.h"

#include <algorithm>

#include "common/base/crc32c.h"

namespace ratchet::io {
namespace {

constexpr std::uint64_t kPiece = 1U << 20;

}  // namespace

bool AllZero(std::string_view bytes) {
  // The first byte is zero and each equals the one before it.
  return bytes.empty() || (bytes[0] == '\0' && bytes.substr(1) == bytes.substr(0, bytes.size() - 1));
}

std::string_view LogBytes::At(std::uint64_t offset, std::uint64_t length) {
  if (offset >= size_ || !status_.ok()) return {};
  length = std::min(length, size_ - offset);
  if ((offset < begin_ || offset + length > begin_ + window_.size()) && !Load(offset, length)) return {};
  return window_.substr(offset - begin_, length);
}

bool LogBytes::Load(std::uint64_t offset, std::uint64_t length) {
  const std::uint64_t wanted = std::min(std::max<std::uint64_t>(length, step_), size_ - offset);
  window_ = {};
  if (buffer_.capacity() > 4 * std::max<std::uint64_t>(wanted, step_))
    std::string().swap(buffer_);  // after one large record
  buffer_.resize(wanted);
  const Result<std::size_t> got = file_->ReadAt(offset, buffer_.data(), buffer_.size());
  if (!got.ok()) {
    status_ = got.error();
    return false;
  }
  if (*got < length) {
    status_ = Error(Code::kIo, fmt::format("the file ends at {}, its size was {}", offset + *got, size_));
    return false;
  }
  begin_ = offset;
  window_ = std::string_view(buffer_).substr(0, *got);
  return true;
}

bool OnlyZeros(LogBytes& bytes, std::uint64_t from) {
  for (std::uint64_t at = bytes.SkipHole(from); at < bytes.size(); at = bytes.SkipHole(at + kPiece)) {
    if (!AllZero(bytes.At(at, kPiece))) return false;
  }
  return bytes.status().ok();
}

std::uint32_t ChecksumOf(LogBytes& bytes, std::uint64_t from, std::uint64_t to, std::uint32_t crc) {
  for (std::uint64_t at = from; at < to; at += kPiece) crc = Crc32c(bytes.At(at, std::min(kPiece, to - at)), crc);
  return crc;
}

}  // namespace ratchet::io
