// Walks over stored cells in key order: one interface for memstores, store files and merges of them.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "regionserver/store/cell_key.h"

namespace ratchet::regionserver {

// One thread at a time. A new cursor has no position. key() and value() may be called while Valid(); they are valid
// until the cursor moves. When Valid() turns false, status() distinguishes the end from a failure.
class CellCursor {
 public:
  virtual ~CellCursor() = default;
  virtual void Seek(std::string_view key) = 0;        // moves to the first key at or after `key`
  virtual void SeekBefore(std::string_view key) = 0;  // moves to the last key before `key`
  virtual void SeekToLast() = 0;
  virtual void Next() = 0;
  virtual void Prev() = 0;
  [[nodiscard]] virtual bool Valid() const = 0;
  [[nodiscard]] virtual std::string_view key() const = 0;
  [[nodiscard]] virtual std::string_view value() const = 0;
  [[nodiscard]] virtual Status status() const = 0;
  // Next, Valid and key in one call, for long walks: returns false, and leaves `key`, when Valid() turned false.
  virtual bool Step(std::string_view* key) {
    Next();
    if (!Valid()) return false;
    *key = this->key();
    return true;
  }
  // Returns the cursor to which this one passes its calls, until that one is replaced; otherwise this one. Saves a
  // virtual call for each call.
  [[nodiscard]] virtual CellCursor& Inner() { return *this; }
};

// Returns all cells of all children in order. Equal keys only occur for equal cells, because the sequence is part of
// the key.
[[nodiscard]] std::unique_ptr<CellCursor> MergeCursors(std::vector<std::unique_ptr<CellCursor>> children,
                                                       KeyOrder order);

}  // namespace ratchet::regionserver
