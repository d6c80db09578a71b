// An open-addressing hash table from pid to {version, place, bytes}: 24 bytes a slot, no allocation per entry.
//
// Pids are dense and a store may hold a million of them, which every commit touches. A node-based map costs twice the
// memory and one more cache miss. Not thread-safe.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "common/base/check.h"
#include "common/base/strong_id.h"

namespace ratchet::procedure {

class PidTable {
 public:
  struct Entry {
    std::uint64_t pid = 0;  // 0: the slot is free
    std::uint64_t version = 0;
    std::uint32_t place = 0;  // chosen by the owner
    std::uint32_t bytes = 0;  // size of the record, if the owner uses it
  };

  PidTable() : slots_(kSmallest) {}

  [[nodiscard]] Entry* Find(ProcId pid) {
    for (std::size_t at = Home(pid.value());; at = Following(at)) {
      if (slots_[at].pid == pid.value()) return &slots_[at];
      if (slots_[at].pid == 0) return nullptr;
    }
  }
  [[nodiscard]] const Entry* Find(ProcId pid) const { return const_cast<PidTable*>(this)->Find(pid); }

  // Finds or makes an entry; a new one has version 0. Pointers are valid until the next Put or Erase.
  Entry& Put(ProcId pid) {
    RATCHET_CHECK(pid.valid(), "pid 0");
    if ((size_ + 1) * 10 > slots_.size() * 7) Grow();
    std::size_t at = Home(pid.value());
    while (slots_[at].pid != 0 && slots_[at].pid != pid.value()) at = Following(at);
    if (slots_[at].pid == 0) {
      slots_[at] = Entry{pid.value(), 0, 0, 0};
      ++size_;
    }
    return slots_[at];
  }

  // Moves later entries back into the gap, so that no tombstones are needed.
  void Erase(ProcId pid) {
    Entry* const found = Find(pid);
    if (found == nullptr) return;
    --size_;
    std::size_t gap = static_cast<std::size_t>(found - slots_.data());
    for (std::size_t at = Following(gap); slots_[at].pid != 0; at = Following(at)) {
      const std::size_t home = Home(slots_[at].pid);
      const bool stays = gap < at ? (home > gap && home <= at) : (home > gap || home <= at);
      if (stays) continue;
      slots_[gap] = slots_[at];
      gap = at;
    }
    slots_[gap] = Entry{};
  }

  [[nodiscard]] std::size_t size() const { return size_; }

  template <class Function>
  void ForEach(Function function) const {
    for (const Entry& entry : slots_) {
      if (entry.pid != 0) function(entry);
    }
  }

 private:
  static constexpr std::size_t kSmallest = 64;  // a power of two

  // Fibonacci hashing spreads dense and strided pids alike.
  [[nodiscard]] std::size_t Home(std::uint64_t pid) const {
    return static_cast<std::size_t>((pid * 0x9E3779B97F4A7C15ULL) >> 20) & (slots_.size() - 1);
  }
  [[nodiscard]] std::size_t Following(std::size_t at) const { return (at + 1) & (slots_.size() - 1); }

  void Grow() {
    std::vector<Entry> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Entry& entry : old) {
      if (entry.pid == 0) continue;
      std::size_t at = Home(entry.pid);
      while (slots_[at].pid != 0) at = Following(at);
      slots_[at] = entry;
    }
  }

  std::vector<Entry> slots_;
  std::size_t size_ = 0;
};

}  // namespace ratchet::procedure
