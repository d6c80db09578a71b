// Walks over stored cells in key order: one interface for memstores, store files and merges of them.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "regionserver/store/cell_key.h"

namespace ratchet::regionserver {

// One thread at a time. A new cursor stands nowhere. key() and value() may be called while Valid(); they are good until
// the cursor moves. When Valid() turns false, status() tells an end from a failure.
class CellCursor {
 public:
  virtual ~CellCursor() = default;
  virtual void Seek(std::string_view key) = 0;        // the first key at or after it
  virtual void SeekBefore(std::string_view key) = 0;  // the last key before it
  virtual void SeekToLast() = 0;
  virtual void Next() = 0;
  virtual void Prev() = 0;
  [[nodiscard]] virtual bool Valid() const = 0;
  [[nodiscard]] virtual std::string_view key() const = 0;
  [[nodiscard]] virtual std::string_view value() const = 0;
  [[nodiscard]] virtual Status status() const = 0;
};

// All cells of all children in order; equal keys never occur (the sequence is part of the key), or are equal cells.
[[nodiscard]] std::unique_ptr<CellCursor> MergeCursors(std::vector<std::unique_ptr<CellCursor>> children,
                                                       KeyOrder order);

}  // namespace ratchet::regionserver
