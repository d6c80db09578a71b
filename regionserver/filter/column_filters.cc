// Filters that decide by family, column and time.
#include <algorithm>
#include <set>
#include <utility>

#include "common/base/result.h"
#include "regionserver/filter/builders.h"

namespace ratchet::regionserver::filters {
namespace {

Place ColumnIn(const CellView& cell, std::string qualifier) {
  return Place{std::string(cell.row), std::string(cell.family), std::move(qualifier)};
}

class Family final : public Filter {
 public:
  explicit Family(Comparison comparison) : comparison_(std::move(comparison)) {}
  Verdict Look(const CellView& cell) override { return comparison_.Matches(cell.family) ? kTake : kNextRow; }

 private:
  const Comparison comparison_;
};

class Qualifier final : public Filter {
 public:
  explicit Qualifier(Comparison comparison) : comparison_(std::move(comparison)) {}
  Verdict Look(const CellView& cell) override { return comparison_.Matches(cell.qualifier) ? kTake : kSkip; }

 private:
  const Comparison comparison_;
};

class ColumnPrefixes final : public Filter {
 public:
  explicit ColumnPrefixes(std::vector<std::string> prefixes) {
    std::sort(prefixes.begin(), prefixes.end());
    for (std::string& prefix : prefixes) {  // skip a prefix that another prefix covers
      if (prefixes_.empty() || !prefix.starts_with(prefixes_.back())) prefixes_.push_back(std::move(prefix));
    }
  }
  Verdict Look(const CellView& cell) override {
    next_ = std::upper_bound(prefixes_.begin(), prefixes_.end(), cell.qualifier);
    if (next_ != prefixes_.begin() && cell.qualifier.starts_with(*std::prev(next_))) return kTake;
    return next_ == prefixes_.end() ? kNextRow : kSeek;
  }
  std::optional<Place> Hint(const CellView& cell) override {
    if (next_ == prefixes_.end()) return std::nullopt;
    return ColumnIn(cell, *next_);
  }
  [[nodiscard]] bool Hints() const override { return true; }

 private:
  std::vector<std::string> prefixes_;
  std::vector<std::string>::const_iterator next_ = prefixes_.end();
};

class ColumnsInRange final : public Filter {
 public:
  explicit ColumnsInRange(ColumnRange range) : range_(std::move(range)) {}
  Verdict Look(const CellView& cell) override {
    const int from = range_.has_min ? cell.qualifier.compare(range_.min) : 1;
    if (from < 0) return kSeek;
    if (from == 0 && !range_.include_min) return kNextColumn;
    if (!range_.has_max) return kTake;
    const int to = cell.qualifier.compare(range_.max);
    return to < 0 || (to == 0 && range_.include_max) ? kTake : kNextRow;
  }
  std::optional<Place> Hint(const CellView& cell) override { return ColumnIn(cell, range_.min); }
  [[nodiscard]] bool Hints() const override { return true; }

 private:
  const ColumnRange range_;
};

class ColumnCount final : public Filter {
 public:
  explicit ColumnCount(std::int32_t limit) : limit_(limit) {}
  Verdict Look(const CellView&) override { return ++count_ > limit_ ? kNextColumn : kTakeThenNextColumn; }
  [[nodiscard]] bool AllRemainingAreOut() const override { return count_ > limit_; }
  void Reset() override { count_ = 0; }

 private:
  const std::int32_t limit_;
  std::int64_t count_ = 0;
};

class ColumnPage final : public Filter {
 public:
  ColumnPage(std::int32_t limit, std::int32_t offset) : limit_(limit), offset_(offset) {}
  Verdict Look(const CellView&) override {
    if (count_ >= offset_ + limit_) return kNextRow;
    return count_++ < offset_ ? kNextColumn : kTakeThenNextColumn;
  }
  void Reset() override { count_ = 0; }

 private:
  const std::int64_t limit_;
  const std::int64_t offset_;
  std::int64_t count_ = 0;
};

class ColumnPageFrom final : public Filter {
 public:
  ColumnPageFrom(std::int32_t limit, std::string first_column) : limit_(limit), first_(std::move(first_column)) {}
  Verdict Look(const CellView& cell) override {
    if (count_ >= limit_) return kNextRow;
    if (count_ == 0 && cell.qualifier < first_) return kSeek;
    ++count_;
    return kTakeThenNextColumn;
  }
  std::optional<Place> Hint(const CellView& cell) override { return ColumnIn(cell, first_); }
  void Reset() override { count_ = 0; }

 private:
  const std::int64_t limit_;
  const std::string first_;
  std::int64_t count_ = 0;
};

class FirstKeyOnly final : public Filter {
 public:
  Verdict Look(const CellView&) override { return std::exchange(found_, true) ? kNextRow : kTake; }
  void Reset() override { found_ = false; }

 private:
  bool found_ = false;
};

class FirstKeyMatching final : public Filter {
 public:
  explicit FirstKeyMatching(std::vector<std::string> qualifiers) : qualifiers_(qualifiers.begin(), qualifiers.end()) {}
  Verdict Look(const CellView& cell) override {
    if (found_) return kNextRow;
    found_ = qualifiers_.contains(cell.qualifier);
    return kTake;
  }
  void Reset() override { found_ = false; }

 private:
  const std::set<std::string, std::less<>> qualifiers_;
  bool found_ = false;
};

class KeyOnly final : public Filter {
 public:
  explicit KeyOnly(bool length_as_value) : length_as_value_(length_as_value) {}
  CellView Transform(const CellView& cell) override {
    CellView key = cell;
    length_.clear();
    if (length_as_value_) {
      for (int shift = 24; shift >= 0; shift -= 8) length_.push_back(static_cast<char>(cell.value.size() >> shift));
    }
    key.value = length_;
    key.tags = {};
    return key;
  }

 private:
  const bool length_as_value_;
  std::string length_;
};

class Timestamps final : public Filter {
 public:
  Timestamps(std::vector<std::int64_t> timestamps, bool can_hint)
      : timestamps_(timestamps.begin(), timestamps.end()), can_hint_(can_hint) {}
  Verdict Look(const CellView& cell) override {
    if (timestamps_.contains(cell.timestamp)) return kTake;
    if (timestamps_.empty() || cell.timestamp < *timestamps_.begin()) return kNextColumn;
    return can_hint_ ? kSeek : kSkip;
  }
  std::optional<Place> Hint(const CellView& cell) override {
    const auto above = timestamps_.lower_bound(cell.timestamp);
    if (above == timestamps_.begin()) return std::nullopt;
    return Place{std::string(cell.row), std::string(cell.family), std::string(cell.qualifier), *std::prev(above)};
  }
  [[nodiscard]] bool Hints() const override { return true; }

 private:
  const std::set<std::int64_t> timestamps_;
  const bool can_hint_;
};

}  // namespace

FilterPtr MakeFamily(Comparison comparison) { return std::make_unique<Family>(std::move(comparison)); }
FilterPtr MakeQualifier(Comparison comparison) { return std::make_unique<Qualifier>(std::move(comparison)); }
FilterPtr MakeColumnPrefixes(std::vector<std::string> prefixes) {
  return std::make_unique<ColumnPrefixes>(std::move(prefixes));
}
FilterPtr MakeColumnRange(ColumnRange range) { return std::make_unique<ColumnsInRange>(std::move(range)); }
FilterPtr MakeColumnCount(std::int32_t limit) { return std::make_unique<ColumnCount>(limit); }
FilterPtr MakeColumnPage(std::int32_t limit, std::int32_t offset) {
  return std::make_unique<ColumnPage>(limit, offset);
}
FilterPtr MakeColumnPageFrom(std::int32_t limit, std::string first_column) {
  return std::make_unique<ColumnPageFrom>(limit, std::move(first_column));
}
FilterPtr MakeFirstKeyOnly() { return std::make_unique<FirstKeyOnly>(); }
FilterPtr MakeFirstKeyMatching(std::vector<std::string> qualifiers) {
  return std::make_unique<FirstKeyMatching>(std::move(qualifiers));
}
FilterPtr MakeKeyOnly(bool length_as_value) { return std::make_unique<KeyOnly>(length_as_value); }
FilterPtr MakeTimestamps(std::vector<std::int64_t> timestamps, bool can_hint) {
  return std::make_unique<Timestamps>(std::move(timestamps), can_hint);
}

}  // namespace ratchet::regionserver::filters
