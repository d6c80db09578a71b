// Walks over the entries of one block of a table file in memory (RocksDB's format of data blocks). Pure.
//
// RocksDB finds, reads, checks and caches the blocks, and its iterator keeps the current one in memory. But a step of
// that iterator costs more than all other work on a scanned cell. In a block, an entry begins where the value of the
// previous one ends:
//
//   entry = varint32 shared, varint32 not shared, varint32 value size, the part of the key that is not shared, value
//   key   = the first `shared` bytes of the previous key, the part that is not shared; it ends in kTrailer
//
// After the last entry follows the array of restart points, whose first number is zero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace ratchet::regionserver {

class BlockEntries {
 public:
  // The sequence (0) and the type (a put) of all keys in files of SstFileWriter.
  static constexpr std::string_view kTrailer{"\1\0\0\0\0\0\0\0", 8};

  // Begins at an entry of a block: its key without trailer, and its value, which lies in the block.
  void Begin(std::string_view key, std::string_view value) {
    key_.assign(key);
    key_.append(kTrailer);
    key_size_ = key_.size();
    value_ = value;
  }
  // Moves to the next entry. Returns false, and stays, at the end of the block, and at an entry of another form.
  [[nodiscard]] bool Next() {
    const char* at = value_.data() + value_.size();
    std::uint32_t shared = 0;
    std::uint32_t rest = 0;
    std::uint32_t size = 0;
    if (!Read(at, shared) || !Read(at, rest)) return false;
    if (rest == 0 || shared > key_size_ || shared + std::size_t{rest} <= kTrailer.size()) return false;
    if (!Read(at, size) || !EndsInTrailer(at, shared, rest)) return false;
    key_size_ = shared + std::size_t{rest};
    if (key_.size() < key_size_) key_.resize(key_size_);
    std::memcpy(key_.data() + shared, at, rest);
    value_ = {at + rest, size};
    return true;
  }
  [[nodiscard]] std::string_view key() const { return {key_.data(), key_size_ - kTrailer.size()}; }
  [[nodiscard]] std::string_view value() const { return value_; }

 private:
  [[nodiscard]] static bool Read(const char*& at, std::uint32_t& number) {
    number = static_cast<std::uint8_t>(*at++);
    if (number < 0x80) return true;
    number &= 0x7f;
    for (int shift = 7; shift <= 28; shift += 7) {
      const auto byte = static_cast<std::uint8_t>(*at++);
      number |= (byte & 0x7fU) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }
  // A part of the trailer may be shared with the previous key.
  [[nodiscard]] bool EndsInTrailer(const char* part, std::size_t shared, std::size_t rest) const {
    if (rest >= kTrailer.size())
      return std::memcmp(part + rest - kTrailer.size(), kTrailer.data(), kTrailer.size()) == 0;
    const std::size_t before = kTrailer.size() - rest;
    return shared >= before && std::string_view(key_).substr(shared - before, before) == kTrailer.substr(0, before) &&
           std::string_view(part, rest) == kTrailer.substr(before);
  }

  std::string key_;  // with its trailer, and the rest of longer keys before
  std::size_t key_size_ = 0;
  std::string_view value_;
};

}  // namespace ratchet::regionserver
