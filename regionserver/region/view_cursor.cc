#include "regionserver/region/view_cursor.h"

#include <cstdint>
#include <utility>

#include "regionserver/region/region_counts.h"

namespace ratchet::regionserver {

std::unique_ptr<CellCursor> ViewCursor::Make() const {
  std::vector<std::unique_ptr<CellCursor>> children;
  for (const auto& memstore : {view_.active, view_.flushing})
    if (memstore && !memstore->empty()) children.push_back(memstore->NewCursor());
  std::uint64_t skipped = 0;
  for (const auto& file : view_.files) {
    if (!only_row_.empty() && !file->MayHaveRow(only_row_))
      ++skipped;
    else
      children.push_back(StoreFiles::NewCursor(file, from_));
  }
  if (!only_row_.empty()) {
    RegionCounts& counts = RegionCounts::OfProcess();
    counts.files_of_rows.fetch_add(view_.files.size(), std::memory_order_relaxed);
    counts.files_skipped.fetch_add(skipped, std::memory_order_relaxed);
  }
  return MergeCursors(std::move(children), order_);
}

void ViewCursor::Rest() {
  if (!cursor_) return;
  stood_ = cursor_->Valid();
  if (stood_) key_ = cursor_->key();
  cursor_.reset();
}

void ViewCursor::Resume() {
  if (cursor_) return;
  cursor_ = Make();
  if (stood_) cursor_->Seek(key_);
}

void ViewCursor::Exchange(const std::shared_ptr<Memstore>& flushed,
                          const std::vector<std::shared_ptr<const StoreFiles::Reader>>& files,
                          std::vector<std::shared_ptr<const void>>* garbage) {
  for (auto* memstore : {&view_.active, &view_.flushing}) {
    if (*memstore != flushed) continue;
    garbage->push_back(std::exchange(*memstore, nullptr));
    view_.files.insert(view_.files.end(), files.begin(), files.end());
  }
}

}  // namespace ratchet::regionserver
