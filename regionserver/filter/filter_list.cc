// FilterList: a cell must pass all of several filters, or any of them.
#include <algorithm>
#include <utility>

#include "regionserver/filter/builders.h"

namespace ratchet::regionserver::filters {
namespace {

class List : public Filter {
 public:
  List(std::vector<FilterPtr> filters, bool reversed) : reversed_(reversed) {
    for (FilterPtr& filter : filters) members_.push_back(Member{std::move(filter), {}, {}, false, false});
  }
  // Members that took the cell transform it one after the other.
  CellView Transform(const CellView& cell) override {
    CellView out = cell;
    for (Member& member : members_) {
      if (member.took) out = member.filter->Transform(out);
    }
    return out;
  }
  [[nodiscard]] bool JudgesRows() const override {
    return std::any_of(members_.begin(), members_.end(), [](const Member& m) { return m.filter->JudgesRows(); });
  }
  [[nodiscard]] bool HintsRows() const override {
    return std::any_of(members_.begin(), members_.end(), [](const Member& m) { return m.filter->HintsRows(); });
  }
  void DropCells(std::vector<Cell>& cells) override {
    for (Member& member : members_) member.filter->DropCells(cells);
  }
  void Reset() override {
    for (Member& member : members_) {
      member.filter->Reset();
      member.asked = member.took = false;
    }
  }

 protected:
  struct Member {
    FilterPtr filter;
    // For MUST_PASS_ONE: the member's last verdict in this row, and the cell (without value) that it belongs to.
    Verdict said;
    Cell last;
    bool asked = false;
    bool took = false;  // whether the member took the current cell
  };
  std::vector<Member>& members() { return members_; }
  [[nodiscard]] const std::vector<Member>& members() const { return members_; }
  [[nodiscard]] bool reversed() const { return reversed_; }

 private:
  std::vector<Member> members_;
  const bool reversed_;
};

class All final : public List {
 public:
  using List::List;
  // Every member is called for the row, even when an earlier one excludes it: a member with hints may know the next
  // row.
  bool RowKeyIsOut(std::string_view row) override {
    bool out = false;
    bool hint = false;
    for (Member& member : members()) {
      if (member.filter->AllRemainingAreOut()) return true;
      if (member.filter->RowKeyIsOut(row))
        out = true;
      else if (member.filter->HintsRows())
        hint = true;
    }
    return out && !hint;
  }
  // The widest step wins, and a hint precedes every step. Members after the first that excludes the cell are not
  // called, because they count the cells that were taken; members that give hints are called.
  Verdict Look(const CellView& cell) override {
    Verdict verdict = kTake;
    hinting_.clear();
    for (Member& member : members()) {
      if (!verdict.take) {
        if (member.filter->Hints() && member.filter->Look(cell).step == Step::kHint)
          hinting_.push_back(member.filter.get());
        continue;
      }
      const Verdict said = member.filter->AllRemainingAreOut() ? kNextRow : member.filter->Look(cell);
      member.took = said.take;
      if (said.step == Step::kHint) hinting_.push_back(member.filter.get());
      verdict.take = said.take;
      verdict.step = std::max(verdict.step, said.step);
    }
    return hinting_.empty() ? verdict : kSeek;
  }
  // The farthest of all.
  std::optional<Place> Hint(const CellView& cell) override {
    std::optional<Place> last;
    for (Filter* const filter : hinting_) {
      if (filter->AllRemainingAreOut()) continue;
      std::optional<Place> place = filter->Hint(cell);
      if (place && (!last || ComparePlaces(*last, *place, reversed()) < 0)) last = std::move(place);
    }
    return last;
  }
  bool RowIsOut() override {
    return std::any_of(members().begin(), members().end(), [](Member& m) { return m.filter->RowIsOut(); });
  }
  [[nodiscard]] bool AllRemainingAreOut() const override {
    return std::any_of(members().begin(), members().end(),
                       [](const Member& m) { return m.filter->AllRemainingAreOut(); });
  }

 private:
  std::vector<Filter*> hinting_;  // those that have named a place for the cell at hand
};

class Any final : public List {
 public:
  using List::List;
  bool RowKeyIsOut(std::string_view row) override {
    bool out = true;
    for (Member& member : members()) {
      if (!member.filter->AllRemainingAreOut() && !member.filter->RowKeyIsOut(row)) out = false;
    }
    return out;
  }
  // The narrowest step wins. A verdict on an earlier cell remains valid as far as its step reaches.
  Verdict Look(const CellView& cell) override {
    std::optional<Verdict> all;
    for (Member& member : members()) {
      member.took = false;
      if (member.filter->AllRemainingAreOut()) continue;
      const Verdict said = Said(member, cell);
      member.took = said.take;
      if (!all) {
        all = said;
        continue;
      }
      // A hint and any other step have no common step.
      const bool one_hints = (all->step == Step::kHint) != (said.step == Step::kHint);
      all->step = one_hints ? Step::kNextCell : std::min(all->step, said.step);
      all->take = all->take || said.take;
    }
    return all.value_or(kSkip);
  }
  // Returns the first position of all hints.
  std::optional<Place> Hint(const CellView& cell) override {
    std::optional<Place> first;
    for (Member& member : members()) {
      if (member.filter->AllRemainingAreOut()) continue;
      std::optional<Place> place = member.filter->Hint(cell);
      if (!place) {
        if (member.filter->AllRemainingAreOut()) continue;
        return std::nullopt;
      }
      if (!first || ComparePlaces(*place, *first, reversed()) < 0) first = std::move(place);
    }
    return first;
  }
  bool RowIsOut() override {
    return std::all_of(members().begin(), members().end(), [](Member& m) { return m.filter->RowIsOut(); });
  }
  [[nodiscard]] bool AllRemainingAreOut() const override {
    return std::all_of(members().begin(), members().end(),
                       [](const Member& m) { return m.filter->AllRemainingAreOut(); });
  }

 private:
  Verdict Said(Member& member, const CellView& cell) {
    if (member.asked) {
      const bool same_family = member.last.family == cell.family;
      switch (member.said.step) {
        case Step::kNextCell: break;
        case Step::kNextColumn:
          if (same_family && member.last.qualifier == cell.qualifier) return kNextColumn;
          break;
        case Step::kNextRow:
          if (same_family) return kNextRow;
          break;
        case Step::kHint: {
          const std::optional<Place> place = member.filter->Hint(CellView(member.last));
          if (place && CompareWithPlace(cell, *place, reversed()) < 0) return kSeek;
          break;
        }
      }
    }
    member.said = member.filter->Look(cell);
    member.asked = true;
    if (member.said.step == Step::kNextCell) return member.said;
    member.last.row = cell.row;
    member.last.family = cell.family;
    member.last.qualifier = cell.qualifier;
    member.last.timestamp = cell.timestamp;
    return member.said;
  }
};

// Takes every cell: the meaning of an empty list.
class Everything final : public Filter {};

}  // namespace

FilterPtr MakeAll(std::vector<FilterPtr> members, bool reversed) {
  if (members.empty()) return std::make_unique<Everything>();
  return std::make_unique<All>(std::move(members), reversed);
}

FilterPtr MakeAny(std::vector<FilterPtr> members, bool reversed) {
  if (members.empty()) return std::make_unique<Everything>();
  return std::make_unique<Any>(std::move(members), reversed);
}

}  // namespace ratchet::regionserver::filters
