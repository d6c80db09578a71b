#include "chaos/workloads/scan_ledger.h"

#include <algorithm>
#include <charconv>

#include <fmt/core.h>

namespace ratchet::chaos {
namespace {

constexpr const char* kPad = ".......................................";

// Returns the version in a value of this row and column; nullopt if the value has another form.
std::optional<std::int64_t> VersionIn(std::string_view value, std::string_view row, std::string_view column) {
  const auto first = value.find('|');
  const auto second = value.find('|', first == std::string_view::npos ? first : first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  std::int64_t version = 0;
  const std::string_view digits = value.substr(first + 1, second - first - 1);
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), version);
  if (failed != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value == ScanValue(row, column, version) ? std::optional(version) : std::nullopt;
}

}  // namespace

std::string ScanColumn(std::size_t column) {
  const std::size_t half = kScanColumns / 2;
  return fmt::format("{}{}", column < half ? 'a' : 'b', column % half);
}

std::string ScanValue(std::string_view row, std::string_view column, std::int64_t version) {
  return fmt::format("{}/{}|{}|{}", row, column, version, kPad);
}

ScanLedger::ScanLedger(std::vector<std::string> keys)
    : keys_(std::move(keys)), begun_(keys_.size(), 0), acknowledged_(keys_.size(), 0) {}

std::int64_t ScanLedger::BeginPut(std::size_t row) {
  const MutexLock lock(mutex_);
  return ++begun_[row];
}

void ScanLedger::Acknowledge(std::size_t row, std::int64_t version) {
  const MutexLock lock(mutex_);
  acknowledged_[row] = std::max(acknowledged_[row], version);
}

ScanLedger::Floors ScanLedger::Before() const {
  const MutexLock lock(mutex_);
  return acknowledged_;
}

std::optional<std::string> ScanLedger::Judge(const ScanQuestion& question, const Floors& floors,
                                             const ScanAnswer& answer) const {
  std::vector<std::int64_t> ceilings;
  {
    const MutexLock lock(mutex_);
    ceilings = begun_;
  }
  std::vector<std::size_t> seen;
  for (const client::Row& row : answer.rows) {
    const auto found = std::lower_bound(keys_.begin(), keys_.end(), row.key);
    if (found == keys_.end() || *found != row.key) return fmt::format("row {} was never written", row.key);
    const auto number = static_cast<std::size_t>(found - keys_.begin());
    if (number < question.first || number >= question.end) return fmt::format("row {} was not asked for", row.key);
    if (!seen.empty() && number == seen.back()) return fmt::format("row {} was returned twice", row.key);
    if (!seen.empty() && (number < seen.back()) != question.reversed) {
      return fmt::format("row {} was returned after row {}", row.key, keys_[seen.back()]);
    }
    seen.push_back(number);
    if (auto wrong = JudgeRow(question, row, floors[number], ceilings[number])) return wrong;
  }
  if (question.limit != 0 && seen.size() > question.limit) {
    return fmt::format("{} rows, although the limit is {}", seen.size(), question.limit);
  }
  return JudgeWhole(question, floors, answer, seen);
}

std::optional<std::string> ScanLedger::JudgeRow(const ScanQuestion& question, const client::Row& row,
                                                std::int64_t floor, std::int64_t ceiling) const {
  std::vector<std::string> expected;
  for (std::size_t column = 0; column < kScanColumns; ++column) {
    if (ScanColumn(column).starts_with(question.column_prefix)) expected.push_back(ScanColumn(column));
  }
  std::vector<std::string> found;
  std::optional<std::int64_t> version;
  for (const Cell& cell : row.cells) {
    found.push_back(cell.qualifier);
    const auto shown = VersionIn(cell.value, row.key, cell.qualifier);
    if (!shown) return fmt::format("row {} column {} has a value that was never written", row.key, cell.qualifier);
    if (version.value_or(*shown) != *shown) {
      return fmt::format("row {} is of two versions: {} and {}", row.key, *version, *shown);
    }
    version = shown;
  }
  if (found != expected) {
    return fmt::format("row {} has {} columns of {}, or others", row.key, found.size(), expected.size());
  }
  if (*version < floor) {
    return fmt::format("row {} shows version {}, although {} was acknowledged before", row.key, *version, floor);
  }
  if (*version > ceiling) {
    return fmt::format("row {} shows version {}, although only {} were begun", row.key, *version, ceiling);
  }
  return std::nullopt;
}

std::optional<std::string> ScanLedger::JudgeWhole(const ScanQuestion& question, const Floors& floors,
                                                  const ScanAnswer& answer,
                                                  const std::vector<std::size_t>& seen) const {
  const bool to_the_end = answer.ended && (question.limit == 0 || seen.size() < question.limit);
  std::size_t first = question.first;
  std::size_t end = question.end;
  if (!to_the_end) {
    if (seen.empty()) return std::nullopt;  // it came nowhere
    (question.reversed ? first : end) = question.reversed ? seen.back() : seen.back() + 1;
  }
  for (std::size_t row = first; row < end; ++row) {
    if (floors[row] == 0) continue;
    const bool there = question.reversed ? std::binary_search(seen.rbegin(), seen.rend(), row)
                                         : std::binary_search(seen.begin(), seen.end(), row);
    if (!there) {
      return fmt::format("row {} is missing, although its version {} was acknowledged before", keys_[row], floors[row]);
    }
  }
  return std::nullopt;
}

}  // namespace ratchet::chaos
