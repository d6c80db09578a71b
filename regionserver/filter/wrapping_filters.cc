// Filters that change the verdict of one other filter.
#include <utility>

#include "regionserver/filter/builders.h"

namespace ratchet::regionserver::filters {
namespace {

class Wrapping : public Filter {
 public:
  explicit Wrapping(FilterPtr inner) : inner_(std::move(inner)) {}
  std::optional<Place> Hint(const CellView& cell) override { return inner_->Hint(cell); }
  CellView Transform(const CellView& cell) override { return inner_->Transform(cell); }
  [[nodiscard]] bool JudgesRows() const override { return true; }
  [[nodiscard]] bool HintsRows() const override { return inner_->HintsRows(); }

 protected:
  Filter& inner() const { return *inner_; }

 private:
  const FilterPtr inner_;
};

// Excludes a row if any of its cells is excluded.
class Skip final : public Wrapping {
 public:
  using Wrapping::Wrapping;
  bool RowKeyIsOut(std::string_view row) override { return inner().RowKeyIsOut(row); }
  Verdict Look(const CellView& cell) override {
    const Verdict verdict = inner().Look(cell);
    out_ = out_ || verdict != kTake;
    return verdict;
  }
  bool RowIsOut() override { return out_; }
  void Reset() override {
    inner().Reset();
    out_ = false;
  }

 private:
  bool out_ = false;
};

// Ends the scan at the first cell or row that is excluded.
class WhileMatch final : public Wrapping {
 public:
  using Wrapping::Wrapping;
  bool RowKeyIsOut(std::string_view row) override { return Note(inner().RowKeyIsOut(row)); }
  Verdict Look(const CellView& cell) override {
    const Verdict verdict = inner().Look(cell);
    Note(verdict != kTake);
    return verdict;
  }
  bool RowIsOut() override { return Note(inner().RowIsOut()); }
  [[nodiscard]] bool AllRemainingAreOut() const override { return done_ || inner().AllRemainingAreOut(); }
  void Reset() override { inner().Reset(); }

 private:
  bool Note(bool out) {
    done_ = done_ || out;
    return out;
  }
  bool done_ = false;
};

}  // namespace

FilterPtr MakeSkip(FilterPtr inner) { return std::make_unique<Skip>(std::move(inner)); }
FilterPtr MakeWhileMatch(FilterPtr inner) { return std::make_unique<WhileMatch>(std::move(inner)); }

}  // namespace ratchet::regionserver::filters
