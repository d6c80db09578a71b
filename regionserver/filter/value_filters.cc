// Filters that decide by values.
#include <algorithm>
#include <set>
#include <utility>

#include "regionserver/filter/builders.h"

namespace ratchet::regionserver::filters {
namespace {

class Value final : public Filter {
 public:
  explicit Value(Comparison comparison) : comparison_(std::move(comparison)) {}
  Verdict Look(const CellView& cell) override { return comparison_.Matches(cell.value) ? kTake : kSkip; }

 private:
  const Comparison comparison_;
};

// Takes whole rows, by the value of one column.
class SingleColumnValue final : public Filter {
 public:
  SingleColumnValue(SingleColumn what, Comparison comparison)
      : what_(std::move(what)), comparison_(std::move(comparison)) {}
  Verdict Look(const CellView& cell) override {
    if (matched_) return kTake;
    if (found_ && what_.latest_version_only) return kNextRow;
    if (!what_.column.Is(cell)) return kTake;
    found_ = true;
    matched_ = comparison_.Matches(cell.value);
    return !matched_ && what_.latest_version_only ? kNextRow : kTake;
  }
  [[nodiscard]] bool JudgesRows() const override { return true; }
  void DropCells(std::vector<Cell>& cells) override {
    if (what_.exclude_column) std::erase_if(cells, [this](const Cell& cell) { return what_.column.Is(cell); });
  }
  bool RowIsOut() override { return found_ ? !matched_ : what_.filter_if_missing; }
  void Reset() override { found_ = matched_ = false; }

 private:
  const SingleColumn what_;
  const Comparison comparison_;
  bool found_ = false;
  bool matched_ = false;
};

// Takes only cells of one column.
class ColumnValue final : public Filter {
 public:
  ColumnValue(TestedColumn column, Comparison comparison)
      : column_(std::move(column)), comparison_(std::move(comparison)) {}
  Verdict Look(const CellView& cell) override {
    if (!column_.Is(cell)) return found_ ? kNextRow : kNextColumn;
    found_ = true;
    return comparison_.Matches(cell.value) ? kTake : kSkip;
  }
  void Reset() override { found_ = false; }

 private:
  const TestedColumn column_;
  const Comparison comparison_;
  bool found_ = false;
};

// Takes cells that have a timestamp in common with one column.
class DependentColumn final : public Filter {
 public:
  DependentColumn(TestedColumn column, bool drop_column, Comparison comparison)
      : column_(std::move(column)), drop_column_(drop_column), comparison_(std::move(comparison)) {}
  Verdict Look(const CellView& cell) override {
    if (!column_.Is(cell)) return kTake;
    if (comparison_.comparator != nullptr && !comparison_.Matches(cell.value)) return kSkip;
    stamps_.insert(cell.timestamp);
    return drop_column_ ? kSkip : kTake;
  }
  [[nodiscard]] bool JudgesRows() const override { return true; }
  void DropCells(std::vector<Cell>& cells) override {
    std::erase_if(cells, [this](const Cell& cell) { return !stamps_.contains(cell.timestamp); });
  }
  void Reset() override { stamps_.clear(); }

 private:
  const TestedColumn column_;
  const bool drop_column_;
  const Comparison comparison_;
  std::set<std::int64_t> stamps_;
};

}  // namespace

FilterPtr MakeValue(Comparison comparison) { return std::make_unique<Value>(std::move(comparison)); }
FilterPtr MakeSingleColumn(SingleColumn what, Comparison comparison) {
  return std::make_unique<SingleColumnValue>(std::move(what), std::move(comparison));
}
FilterPtr MakeColumnValue(TestedColumn column, Comparison comparison) {
  return std::make_unique<ColumnValue>(std::move(column), std::move(comparison));
}
FilterPtr MakeDependentColumn(TestedColumn column, bool drop_column, Comparison comparison) {
  return std::make_unique<DependentColumn>(std::move(column), drop_column, std::move(comparison));
}

}  // namespace ratchet::regionserver::filters
