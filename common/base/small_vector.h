// A vector of plain values that stores the first few inside the object: for lists that are nearly always short.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace ratchet {

template <class T, std::size_t kInline>
class SmallVector {
  static_assert(std::is_trivially_copyable_v<T>, "elements are moved by copying their bytes");

 public:
  SmallVector() = default;
  SmallVector(SmallVector&& other) noexcept { *this = std::move(other); }
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this == &other) return *this;
    heap_ = std::move(other.heap_);
    if (heap_ == nullptr) std::copy_n(other.inline_.data(), other.size_, inline_.data());
    size_ = other.size_;
    capacity_ = other.capacity_;
    other.size_ = 0;
    other.capacity_ = kInline;
    return *this;
  }
  SmallVector(const SmallVector&) = delete;
  SmallVector& operator=(const SmallVector&) = delete;

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  T* data() { return heap_ == nullptr ? inline_.data() : heap_.get(); }
  const T* data() const { return heap_ == nullptr ? inline_.data() : heap_.get(); }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  T& back() { return data()[size_ - 1]; }

  void push_back(const T& value) {
    if (size_ == capacity_) Grow();
    data()[size_++] = value;
  }
  void pop_back() { --size_; }
  void Shrink(std::size_t size) { size_ = static_cast<std::uint32_t>(size); }
  void clear() { size_ = 0; }

 private:
  void Grow() {
    const std::uint32_t capacity = capacity_ * 2;
    auto bigger = std::make_unique<T[]>(capacity);
    std::copy(begin(), end(), bigger.get());
    heap_ = std::move(bigger);
    capacity_ = capacity;
  }

  std::unique_ptr<T[]> heap_;
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = kInline;
  std::array<T, kInline> inline_;  // not initialised: only the first size_ are read
};

}  // namespace ratchet
