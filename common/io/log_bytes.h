// The bytes of a log for a reader: all in memory, or a window that moves over a file.
//
// Only the window is held: a reader of a large file needs no more memory than one of a small file, except for the
// largest record. Owner: one reader, one thread. A file must outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/io/disk.h"

namespace ratchet::io {

class LogBytes {
 public:
  explicit LogBytes(std::string_view whole) : size_(whole.size()), window_(whole) {}
  // `step`: number of bytes read at once, unless more are requested.
  LogBytes(const ReadableFile& file, std::uint64_t size, std::size_t step) : file_(&file), step_(step), size_(size) {}
  LogBytes(const LogBytes&) = delete;
  LogBytes& operator=(const LogBytes&) = delete;
  ~LogBytes() = default;

  // Bytes from `size` on are ignored.
  void Limit(std::uint64_t size) { size_ = size < size_ ? size : size_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }

  // Returns `length` bytes from `offset` on, fewer at the end. They stay valid until the next call. Empty after an
  // error.
  [[nodiscard]] std::string_view At(std::uint64_t offset, std::uint64_t length);
  // The first error of the disk, or of a file that has become shorter.
  [[nodiscard]] const Status& status() const { return status_; }

  // As ReadableFile::SkipHole: the next offset at or after `offset` whose byte may differ from zero.
  [[nodiscard]] std::uint64_t SkipHole(std::uint64_t offset) const {
    return file_ == nullptr ? offset : file_->SkipHole(offset);
  }

  // Another window over the same bytes.
  [[nodiscard]] LogBytes Another(std::size_t step) const {
    return file_ == nullptr ? LogBytes(window_.substr(0, size_)) : LogBytes(*file_, size_, step);
  }

 private:
  [[nodiscard]] bool Load(std::uint64_t offset, std::uint64_t length);

  const ReadableFile* const file_ = nullptr;
  const std::size_t step_ = 0;
  std::uint64_t size_;
  std::uint64_t begin_ = 0;  // of the window
  std::string buffer_;
  std::string_view window_;
  Status status_;
};

[[nodiscard]] bool AllZero(std::string_view bytes);
// True if all bytes from `from` on are zeros.
[[nodiscard]] bool OnlyZeros(LogBytes& bytes, std::uint64_t from);
// CRC32C of [from, to), continuing `crc`.
[[nodiscard]] std::uint32_t ChecksumOf(LogBytes& bytes, std::uint64_t from, std::uint64_t to, std::uint32_t crc = 0);

}  // namespace ratchet::io
