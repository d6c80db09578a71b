#include "chaos/workloads/replicated_rows.h"

#include <algorithm>

#include <fmt/core.h>

namespace ratchet::chaos {
namespace {

constexpr std::size_t kShown = 5;
constexpr std::uint64_t kOldInFour = 1;  // of four writes, this number goes to an existing row

std::string NumberText(std::uint64_t number) { return number == 0 ? "nothing" : fmt::format("{}", number); }

std::uint64_t Of(const ReplicatedRows::Copy& copy, const std::string& key) {
  const auto found = copy.find(key);
  return found == copy.end() ? 0 : found->second;
}

}  // namespace

ReplicatedRows::Write ReplicatedRows::Next(std::size_t writer, std::uint64_t draw) {
  std::vector<Row>& rows = rows_[writer];
  const bool old = !rows.empty() && (draw % 4 < kOldInFour || rows.size() >= kMostRows);
  if (!old) rows.emplace_back();
  const std::size_t at = old ? static_cast<std::size_t>(draw / 4 % rows.size()) : rows.size() - 1;
  return {at, ++rows[at].asked};
}

void ReplicatedRows::Acknowledged(std::size_t writer, const Write& write) {
  Row& row = rows_[writer][write.row];
  row.acknowledged = std::max(row.acknowledged, write.number);
}

// Spreads rows over the four hex digits at which the load's table is split.
std::string ReplicatedRows::KeyOf(std::size_t writer, std::size_t row) {
  constexpr std::size_t kOdd = 40'503;
  return fmt::format("{:04x}-{}-{}", (row * kOdd + writer * 977) & 0xffffU, writer, row);
}

std::size_t ReplicatedRows::size() const {
  std::size_t all = 0;
  for (const auto& rows : rows_) all += rows.size();
  return all;
}

std::size_t ReplicatedRows::acknowledged() const {
  std::size_t all = 0;
  for (const auto& rows : rows_) {
    all += static_cast<std::size_t>(
        std::count_if(rows.begin(), rows.end(), [](const Row& row) { return row.acknowledged != 0; }));
  }
  return all;
}

ReplicatedRows::Comparison ReplicatedRows::Compare(const Copy& first, const Copy& second) const {
  Comparison result;
  const auto blame = [&result](std::size_t& count, std::string text) {
    ++count;
    if (result.shown.size() < kShown) result.shown.push_back(std::move(text));
  };
  std::size_t found_first = 0;
  std::size_t found_second = 0;
  for (std::size_t writer = 0; writer < rows_.size(); ++writer) {
    for (std::size_t at = 0; at < rows_[writer].size(); ++at) {
      const Row& row = rows_[writer][at];
      const std::string key = KeyOf(writer, at);
      const std::uint64_t here = Of(first, key);
      const std::uint64_t there = Of(second, key);
      found_first += here != 0 ? 1 : 0;
      found_second += there != 0 ? 1 : 0;
      ++result.compared;
      if (here < row.acknowledged || here > row.asked) {
        blame(result.lost, fmt::format("row {}: the first cluster has {}; {} was acknowledged, {} requested", key,
                                       NumberText(here), NumberText(row.acknowledged), row.asked));
      } else if (there < here) {
        blame(result.missing, fmt::format("row {}: the first cluster has {}, the second one {}; {} was acknowledged",
                                          key, NumberText(here), NumberText(there), NumberText(row.acknowledged)));
      } else if (there > here) {
        blame(result.foreign, fmt::format("row {}: the first cluster has {}, the second one {}", key, NumberText(here),
                                          NumberText(there)));
      }
    }
  }
  // Rows that no writer requested.
  const std::size_t strangers = (first.size() - found_first) + (second.size() - found_second);
  if (strangers != 0) {
    result.foreign += strangers - 1;
    blame(result.foreign, fmt::format("{} rows that were never written", strangers));
  }
  return result;
}

std::string ReplicatedRows::ToText() const {
  std::string text;
  for (std::size_t writer = 0; writer < rows_.size(); ++writer) {
    for (std::size_t at = 0; at < rows_[writer].size(); ++at) {
      const Row& row = rows_[writer][at];
      text += fmt::format("{} {} {}\n", KeyOf(writer, at), row.acknowledged, row.asked);
    }
  }
  return text;
}

}  // namespace ratchet::chaos
