// Filters that decide by the row.
#include <utility>

#include "regionserver/filter/builders.h"

namespace ratchet::regionserver::filters {

bool Comparison::Matches(std::string_view stored) const {
  if (op == CompareOp::kNever) return false;
  if (comparator == nullptr) return true;
  const Result<int> order = comparator->Compare(stored);
  if (order.ok()) return Holds(op, *order);
  if (faults->status.ok()) faults->status = order.error();
  return false;
}

namespace {

// Excludes whole rows by their key. Cells of an excluded row come only when another filter wanted the row.
class RowDecision : public Filter {
 public:
  Verdict Look(const CellView&) override { return out_ ? kNextRow : kTake; }
  bool RowIsOut() override { return out_; }

 protected:
  bool Decide(bool out) { return out_ = out; }

 private:
  bool out_ = false;
};

class Prefix final : public RowDecision {
 public:
  Prefix(std::string prefix, bool reversed) : prefix_(std::move(prefix)), reversed_(reversed) {}
  bool RowKeyIsOut(std::string_view row) override {
    const int order = row.substr(0, prefix_.size()).compare(prefix_);
    if (row.size() >= prefix_.size() && (reversed_ ? order < 0 : order > 0)) passed_ = true;
    return Decide(passed_ || order != 0);
  }
  [[nodiscard]] bool AllRemainingAreOut() const override { return passed_; }
  void Reset() override { Decide(true); }

 private:
  const std::string prefix_;
  const bool reversed_;
  bool passed_ = false;
};

class Row final : public RowDecision {
 public:
  explicit Row(Comparison comparison) : comparison_(std::move(comparison)) {}
  bool RowKeyIsOut(std::string_view row) override { return Decide(!comparison_.Matches(row)); }
  void Reset() override { Decide(false); }

 private:
  const Comparison comparison_;
};

// PageFilter: counts the rows that reach it, in one region.
class Page final : public Filter {
 public:
  explicit Page(std::int64_t page_size) : page_size_(page_size) {}
  [[nodiscard]] bool JudgesRows() const override { return true; }
  bool RowIsOut() override { return ++rows_ > page_size_; }
  [[nodiscard]] bool AllRemainingAreOut() const override { return rows_ >= page_size_; }

 private:
  const std::int64_t page_size_;
  std::int64_t rows_ = 0;
};

class InclusiveStop final : public Filter {
 public:
  InclusiveStop(std::string stop_row, bool reversed) : stop_row_(std::move(stop_row)), reversed_(reversed) {}
  bool RowKeyIsOut(std::string_view row) override {
    if (done_) return true;
    const int order = row.compare(stop_row_);
    return done_ = reversed_ ? order < 0 : order > 0;
  }
  Verdict Look(const CellView&) override { return done_ ? kNextRow : kTake; }
  [[nodiscard]] bool AllRemainingAreOut() const override { return done_; }

 private:
  const std::string stop_row_;
  const bool reversed_;
  bool done_ = false;
};

class RandomRow final : public RowDecision {
 public:
  RandomRow(float chance, std::uint64_t seed) : chance_(chance), state_(seed) {}
  bool RowKeyIsOut(std::string_view) override {
    return Decide(!(chance_ > 1 || (chance_ >= 0 && Next() < static_cast<double>(chance_))));
  }
  [[nodiscard]] bool JudgesRows() const override { return true; }
  void Reset() override { Decide(false); }

 private:
  // Returns a number in [0, 1).
  double Next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state_ >> 11) / static_cast<double>(std::uint64_t{1} << 53);
  }
  const float chance_;
  std::uint64_t state_;
};

class NoRows final : public Filter {
 public:
  bool RowKeyIsOut(std::string_view) override { return true; }
  Verdict Look(const CellView&) override { return kNextRow; }
  [[nodiscard]] bool AllRemainingAreOut() const override { return true; }
};

}  // namespace

FilterPtr MakePrefix(std::string prefix, bool reversed) {
  return std::make_unique<Prefix>(std::move(prefix), reversed);
}
FilterPtr MakeRow(Comparison comparison) { return std::make_unique<Row>(std::move(comparison)); }
FilterPtr MakePage(std::int64_t page_size) { return std::make_unique<Page>(page_size); }
FilterPtr MakeInclusiveStop(std::string stop_row, bool reversed) {
  return std::make_unique<InclusiveStop>(std::move(stop_row), reversed);
}
FilterPtr MakeRandomRow(float chance, std::uint64_t seed) { return std::make_unique<RandomRow>(chance, seed); }
FilterPtr MakeFilterAll() { return std::make_unique<NoRows>(); }

}  // namespace ratchet::regionserver::filters
