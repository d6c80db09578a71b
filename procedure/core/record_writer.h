// Writes the fields of a protocol buffer message one after the other, in the order of the calls. For records that are
// written with every step: a generated message takes several times as long to fill in and to measure. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace ratchet::procedure {

class RecordWriter {
 public:
  // Starts empty; its memory is kept from one record to the next.
  static RecordWriter& OfThisThread() {
    thread_local RecordWriter writer;
    return writer;
  }

  void Number(int field, std::uint64_t value) {
    MakeRoom(kFieldBytes);
    Varint(static_cast<std::uint64_t>(field) << 3);
    Varint(value);
  }
  void Number(int field, std::int64_t value) { Number(field, static_cast<std::uint64_t>(value)); }
  void Number(int field, std::uint32_t value) { Number(field, std::uint64_t{value}); }
  void True(int field) { Number(field, std::uint64_t{1}); }
  void Bytes(int field, std::string_view bytes) {
    MakeRoom(kFieldBytes + bytes.size());
    Varint(static_cast<std::uint64_t>(field) << 3 | kLengthDelimited);
    Varint(bytes.size());
    Append(bytes);
  }
  // Appends whole fields that were encoded before.
  void Encoded(std::string_view fields) {
    MakeRoom(fields.size());
    Append(fields);
  }
  // `fill(*this)` writes the fields of the message inside.
  template <class Fill>
  void Message(int field, Fill fill) {
    MakeRoom(kFieldBytes);
    Varint(static_cast<std::uint64_t>(field) << 3 | kLengthDelimited);
    const std::size_t length_at = size_++;  // one byte is enough nearly always
    fill(*this);
    const std::size_t length = size_ - length_at - 1;
    std::size_t more = 0;
    for (std::size_t rest = length >> 7; rest > 0; rest >>= 7) ++more;
    MakeRoom(more);
    if (more > 0) std::memmove(&bytes_[length_at + 1 + more], &bytes_[length_at + 1], length);
    size_ = length_at;
    Varint(length);
    size_ += length;
  }

  // Returns the bytes written; the writer is empty then.
  [[nodiscard]] std::string Take() {
    std::string record;
    MoveTo(record);
    return record;
  }
  // Appends the bytes written to the end of `out`.
  void MoveTo(std::string& out) {
    out.append(bytes_.get(), size_);
    size_ = 0;
    if (capacity_ <= kWorthKeeping) return;
    bytes_.reset();
    capacity_ = 0;
  }

 private:
  static constexpr std::size_t kFieldBytes = 20;  // a tag and a number take at most this
  static constexpr std::size_t kWorthKeeping = 64 << 10;
  static constexpr std::uint64_t kLengthDelimited = 2;

  void MakeRoom(std::size_t bytes) {
    if (capacity_ - size_ < bytes) Grow(bytes);
  }
  void Grow(std::size_t bytes) {
    const std::size_t capacity = 2 * (size_ + bytes) + 1024;
    auto more = std::make_unique<char[]>(capacity);
    if (size_ > 0) std::memcpy(more.get(), bytes_.get(), size_);
    bytes_ = std::move(more);
    capacity_ = capacity;
  }
  void Append(std::string_view bytes) {
    if (!bytes.empty()) std::memcpy(&bytes_[size_], bytes.data(), bytes.size());
    size_ += bytes.size();
  }
  void Varint(std::uint64_t value) {
    char* at = bytes_.get() + size_;
    for (; value >= 0x80; value >>= 7) *at++ = static_cast<char>(value | 0x80);
    *at++ = static_cast<char>(value);
    size_ = static_cast<std::size_t>(at - bytes_.get());
  }

  std::unique_ptr<char[]> bytes_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace ratchet::procedure
