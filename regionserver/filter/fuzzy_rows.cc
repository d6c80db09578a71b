// FuzzyRowFilter: rows that match one of several keys, in which some bytes are free.
//
// A row matches a key when all of the key's fixed bytes that the row reaches are equal, however long the row is
// (HBase's rule).
#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "regionserver/filter/builders.h"

namespace ratchet::regionserver::filters {
namespace {

bool Matches(const FuzzyKey& key, std::string_view row) {
  for (std::size_t i = 0; i < key.key.size() && i < row.size(); ++i) {
    if (key.fixed[i] != 0 && key.key[i] != row[i]) return false;
  }
  return true;
}

unsigned ByteAt(std::string_view bytes, std::size_t i) {
  return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0u;
}

// Returns the smallest matching row after `row`, which does not match; nullopt if there is no such row.
std::optional<std::string> NextMatch(const FuzzyKey& key, std::string_view row) {
  std::optional<std::size_t> raise;  // the last free byte that can be increased
  std::size_t at = 0;
  bool above = false;
  for (; at < key.key.size(); ++at) {
    const unsigned here = ByteAt(row, at);
    if (key.fixed[at] == 0) {
      if (here < 0xff) raise = at;
      continue;
    }
    const unsigned wanted = ByteAt(key.key, at);
    if (wanted == here) continue;
    above = wanted > here;
    break;
  }
  if (!above && !raise) return std::nullopt;
  const std::size_t keep = above ? at : *raise;  // bytes before this index stay as in the row
  std::string next;
  for (std::size_t i = 0; i < key.key.size(); ++i) {
    unsigned byte = key.fixed[i] != 0 ? ByteAt(key.key, i) : 0u;
    if (i < keep && key.fixed[i] == 0) byte = ByteAt(row, i);
    if (!above && i == keep) byte = ByteAt(row, i) + 1;
    next.push_back(static_cast<char>(byte));
  }
  // Drop trailing zeros, because shorter rows come first.
  while (next.size() > keep + 1 && key.fixed[next.size() - 1] == 0) next.pop_back();
  return next;
}

// For a reversed scan: returns the first row after the last matching rows before `row`, which does not match. nullopt
// if there is no such row.
std::optional<std::string> PreviousMatchEnd(const FuzzyKey& key, std::string_view row) {
  std::optional<std::size_t> lower;  // the last free byte that can be decreased
  std::size_t at = 0;
  bool below = false;
  for (; at < key.key.size(); ++at) {
    const unsigned here = ByteAt(row, at);
    if (key.fixed[at] == 0) {
      if (here > 0) lower = at;
      continue;
    }
    const unsigned wanted = ByteAt(key.key, at);
    if (wanted == here) continue;
    below = wanted < here;
    break;
  }
  if (!below && !lower) return std::nullopt;
  const std::size_t keep = below ? at : *lower;
  std::string last;
  for (std::size_t i = 0; i < key.key.size(); ++i) {
    unsigned byte = key.fixed[i] != 0 ? ByteAt(key.key, i) : 0xffu;
    if (i < keep && key.fixed[i] == 0) byte = ByteAt(row, i);
    if (!below && i == keep) byte = ByteAt(row, i) - 1;
    last.push_back(static_cast<char>(byte));
  }
  while (!last.empty() && static_cast<unsigned char>(last.back()) == 0xff) last.pop_back();
  if (last.empty()) return std::nullopt;  // every byte is free, so `row` would match
  last.back() = static_cast<char>(static_cast<unsigned char>(last.back()) + 1);
  return last;
}

class FuzzyRows final : public Filter {
 public:
  FuzzyRows(std::vector<FuzzyKey> keys, bool reversed) : keys_(std::move(keys)), reversed_(reversed) {}

  Verdict Look(const CellView& cell) override {
    if (cell.row == row_) return taken_ ? kTake : kSeek;
    row_ = cell.row;
    taken_ = false;
    for (std::size_t i = 0; i < keys_.size() && !taken_; ++i) {
      const std::size_t index = (found_ + i) % keys_.size();  // neighbouring rows tend to match the same key
      if (!Matches(keys_[index], row_)) continue;
      taken_ = true;
      found_ = index;
    }
    return taken_ ? kTake : kSeek;
  }

  std::optional<Place> Hint(const CellView& cell) override {
    std::optional<std::string> best;
    for (const FuzzyKey& key : keys_) {
      auto next = reversed_ ? PreviousMatchEnd(key, cell.row) : NextMatch(key, cell.row);
      if (next && (!best || (reversed_ ? *next > *best : *next < *best))) best = std::move(next);
    }
    if (!best) {
      done_ = true;
      return std::nullopt;
    }
    return Place{std::move(*best), {}, {}};
  }

  // Relevant in MUST_PASS_ONE, where another filter may take a cell of the row before this filter knows its next row.
  bool RowIsOut() override { return done_ || (!row_.empty() && !taken_); }
  [[nodiscard]] bool AllRemainingAreOut() const override { return done_; }
  [[nodiscard]] bool Hints() const override { return true; }
  [[nodiscard]] bool HintsRows() const override { return true; }
  void Reset() override { row_.clear(); }

 private:
  const std::vector<FuzzyKey> keys_;
  const bool reversed_;
  std::size_t found_ = 0;
  bool done_ = false;
  bool taken_ = false;
  std::string row_;  // row of the last Look
};

}  // namespace

FilterPtr MakeFuzzyRows(std::vector<FuzzyKey> keys, bool reversed) {
  return std::make_unique<FuzzyRows>(std::move(keys), reversed);
}

}  // namespace ratchet::regionserver::filters
