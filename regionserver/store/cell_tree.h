// The cells of a memstore in key order: a B+ tree whose leaves hold the addresses of cells. Pure.
//
// A cell is one piece of memory, and never moves or changes. Cells and nodes are in an arena, which frees them
// together: a replaced cell continues to exist, and a leaf keeps its address when it is split. So a reader may keep
// both while others are added. A cell needs about 12 bytes in the tree and 8 bytes for its own sizes.
//
// Not thread-safe: while one thread adds, no other one may use the tree. The bytes of cells need no lock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <string_view>

#include "regionserver/store/cell_key.h"

namespace ratchet::regionserver {

class CellTree {
 public:
  // A key and its value, which follow this header in memory.
  class Entry {
   public:
    [[nodiscard]] std::string_view key() const { return {bytes(), key_size_}; }
    [[nodiscard]] std::string_view value() const { return {bytes() + key_size_, value_size_}; }

   private:
    friend class CellTree;
    [[nodiscard]] const char* bytes() const { return reinterpret_cast<const char*>(this + 1); }
    std::uint32_t key_size_ = 0;
    std::uint32_t value_size_ = 0;
  };

 private:
  static constexpr std::size_t kWidth = 32;  // entries of a leaf, and children of an inner node
  struct Leaf {
    Leaf* previous = nullptr;
    Leaf* next = nullptr;
    std::size_t count = 0;
    std::array<const Entry*, kWidth> entries;
  };

 public:
  // A place in the tree: at an entry, or at the end. Valid until the next Put; Find makes it valid again.
  class Place {
   public:
    [[nodiscard]] bool AtEnd() const { return leaf_ == nullptr; }
    [[nodiscard]] const Entry* entry() const { return leaf_->entries[index_]; }
    // Not at the end.
    void Next() {
      if (++index_ < leaf_->count) return;
      leaf_ = leaf_->next;
      index_ = 0;
    }

   private:
    friend class CellTree;
    const Leaf* leaf_ = nullptr;
    std::size_t index_ = 0;
  };

  // `arena` outlives the tree.
  CellTree(KeyOrder order, std::pmr::memory_resource& arena) : order_(order), arena_(arena) {}
  CellTree(const CellTree&) = delete;
  CellTree& operator=(const CellTree&) = delete;

  // Adds a cell: the first `key_size` bytes are its key, the others its value. Replaces a cell with the same key.
  // Each of both parts is shorter than 4 GiB.
  void Put(std::string_view bytes, std::size_t key_size);

  // Returns the first place at or after `key`.
  [[nodiscard]] Place LowerBound(std::string_view key) const;
  // Returns the place before `place`; the end when there is none. The place before the end is the last entry.
  [[nodiscard]] Place Before(Place place) const;
  // Returns the place of `entry`, which was at `place` before others were added, or of the entry that replaced it.
  [[nodiscard]] Place Find(Place place, const Entry* entry) const;

 private:
  struct Inner {
    std::size_t count = 0;
    // The smallest key of each child when it was made; keys below the second one belong to the first child.
    std::array<const Entry*, kWidth> first;
    std::array<void*, kWidth> children;  // inner nodes, or leaves on the lowest level
  };
  // An inner node on the way to a leaf, and the child that was taken.
  struct Turn {
    Inner* node;
    std::size_t child;
  };
  static constexpr std::size_t kMostLevels = 16;  // more than memory can hold
  // The way of one Put, the root first. Only the first `levels_` turns have a value. It is on the stack, because a
  // server has a tree for each family of each region.
  using Way = std::array<Turn, kMostLevels>;

  template <class Node>
  [[nodiscard]] Node* Make();
  [[nodiscard]] const Entry* Keep(std::string_view bytes, std::size_t key_size);
  [[nodiscard]] bool Less(const Entry* entry, std::string_view key) const { return order_(entry->key(), key); }
  // Returns the child of the node in which `key` belongs.
  [[nodiscard]] std::size_t ChildOf(const Inner& node, std::string_view key) const;
  [[nodiscard]] std::size_t IndexIn(const Leaf& leaf, std::string_view key) const;
  // Returns the leaf in which `key` belongs, and the way to it.
  [[nodiscard]] Leaf* Descend(std::string_view key, Way& way);
  // Adds an entry to a full leaf, which is divided in two.
  void Split(Leaf* leaf, std::size_t at, const Entry* entry, const Way& way);
  // Adds a node to the right of the one to which `way` leads on this level, counted from the root.
  void AddChild(std::size_t level, const Entry* first, void* child, const Way& way);

  const KeyOrder order_;
  std::pmr::memory_resource& arena_;
  std::size_t levels_ = 0;  // of inner nodes
  void* root_ = nullptr;    // null: the tree is empty
  Leaf* last_ = nullptr;
};

}  // namespace ratchet::regionserver
