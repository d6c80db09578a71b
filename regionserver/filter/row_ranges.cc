// MultiRowRangeFilter: takes rows in any of several ranges, and seeks from one range to the next.
#include <algorithm>
#include <utility>

#include "regionserver/filter/builders.h"

namespace ratchet::regionserver::filters {
namespace {

bool BeginsEarlier(const RowRange& a, const RowRange& b) {
  return a.start != b.start ? a.start < b.start : a.include_start && !b.include_start;
}

// True if there is no gap between the end of `a` and `b`, which does not begin before `a`.
bool Touches(const RowRange& a, const RowRange& b) {
  if (a.stop.empty()) return true;
  const int order = b.start.compare(a.stop);
  return order < 0 || (order == 0 && (a.include_stop || b.include_start));
}

void Extend(RowRange& a, RowRange&& b) {
  if (a.stop.empty()) return;
  const int order = b.stop.empty() ? 1 : b.stop.compare(a.stop);
  if (order == 0) a.include_stop = a.include_stop || b.include_stop;
  if (order <= 0) return;
  a.stop = std::move(b.stop);
  a.include_stop = b.include_stop;
}

std::vector<RowRange> Merged(std::vector<RowRange> ranges) {
  std::sort(ranges.begin(), ranges.end(), BeginsEarlier);
  std::vector<RowRange> merged;
  for (RowRange& range : ranges) {
    if (!merged.empty() && Touches(merged.back(), range))
      Extend(merged.back(), std::move(range));
    else
      merged.push_back(std::move(range));
  }
  return merged;
}

bool IsBehind(std::string_view row, const RowRange& range) {
  if (range.stop.empty()) return false;
  const int order = row.compare(range.stop);
  return order > 0 || (order == 0 && !range.include_stop);
}

bool IsBefore(std::string_view row, const RowRange& range) {
  const int order = row.compare(range.start);
  return order < 0 || (order == 0 && !range.include_start);
}

class RowRanges final : public Filter {
 public:
  RowRanges(std::vector<RowRange> ranges, bool reversed) : ranges_(Merged(std::move(ranges))), reversed_(reversed) {}

  bool RowKeyIsOut(std::string_view row) override {
    if (done_) return true;
    const auto found =
        std::partition_point(ranges_.begin(), ranges_.end(), [&](const RowRange& r) { return IsBehind(row, r); });
    in_ = found != ranges_.end() && !IsBefore(row, *found);
    if (in_) return false;
    done_ = reversed_ ? found == ranges_.begin() : found == ranges_.end();
    if (!done_) next_ = reversed_ ? std::prev(found)->stop : found->start;
    return done_;
  }
  Verdict Look(const CellView&) override { return done_ ? kNextRow : in_ ? kTake : kSeek; }
  std::optional<Place> Hint(const CellView&) override { return Place{next_, {}, {}}; }
  [[nodiscard]] bool AllRemainingAreOut() const override { return done_; }
  [[nodiscard]] bool Hints() const override { return true; }
  [[nodiscard]] bool HintsRows() const override { return true; }

 private:
  const std::vector<RowRange> ranges_;
  const bool reversed_;
  bool in_ = false;   // whether the current row is in a range; otherwise:
  std::string next_;  // where the next range begins, or ends in a reversed scan
  bool done_ = false;
};

}  // namespace

FilterPtr MakeRowRanges(std::vector<RowRange> ranges, bool reversed) {
  return std::make_unique<RowRanges>(std::move(ranges), reversed);
}

}  // namespace ratchet::regionserver::filters
