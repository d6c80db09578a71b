#include "chaos/verdict/meta_ranges.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/core.h>

#include "chaos/verdict/settled.h"
#include "common/base/log.h"
#include "common/client/table.h"
#include "common/model/meta_row.h"

namespace ratchet::chaos {
namespace {

constexpr Millis kBetweenScans{250};
constexpr Millis kLookTimeout{5'000};
constexpr std::size_t kKeptWrongs = 20;
constexpr int kLooksAtTheEnd = 10;

}  // namespace

Result<MetaRanges> ReadMetaRanges(client::Connection& connection, Millis timeout) {
  client::Table meta(connection, MetaTableName(), timeout);
  client::Scan scan;
  scan.columns = {{std::string(meta::kInfoFamily), std::string(meta::kRegionInfo)},
                  {std::string(meta::kInfoFamily), std::string(meta::kState)},
                  {std::string(meta::kTableFamily), std::string(meta::kTableState)}};
  auto scanner = meta.Scan(scan);
  MetaRanges of_rows;
  std::set<std::string> tables;
  for (;;) {
    RATCHET_ASSIGN(const auto row, scanner.Next());
    if (!row) break;
    if (row->Value(meta::kTableFamily, meta::kTableState)) tables.insert(row->key);
    const auto region = DecodeMetaRow(row->cells);
    if (!region.ok() && region.error().code() == Code::kNotFound) continue;
    if (!region.ok()) return region.error().Annotate("a row of hbase:meta");
    if (region->state && IsSplitOrMerged(*region->state)) continue;
    of_rows[region->region.table.ToString()][region->region.encoded_name()] = {region->region.start_key,
                                                                               region->region.end_key};
  }
  MetaRanges ranges_by_table;
  for (const std::string& table : tables) ranges_by_table[table] = std::move(of_rows[table]);
  return ranges_by_table;
}

void RangeJudge::Take(MetaRanges ranges_by_table) {
  ++looks_;
  std::size_t regions = 0;
  MetaRanges doubtful;
  for (auto& [table, ranges] : ranges_by_table) {
    regions += ranges.size();
    std::vector<KeyRange> keys;
    for (const auto& [encoded, range] : ranges) keys.push_back(range);
    const std::vector<std::string> wrong = WrongRanges(table, std::move(keys));
    if (wrong.empty()) continue;
    const auto before = doubtful_.find(table);
    if (before != doubtful_.end() && before->second == ranges) {
      for (const std::string& what : wrong) {
        if (wrong_.size() < kKeptWrongs && wrong_.insert(what).second) RATCHET_LOG(kWarn, "ranges: {}", what);
      }
    }
    doubtful.emplace(table, std::move(ranges));
  }
  most_regions_ = std::max(most_regions_, regions);
  doubtful_ = std::move(doubtful);
}

Finding RangeJudge::Judge() const {
  if (looks_ == 0) return {false, "hbase:meta was never read: the tables' ranges are unknown"};
  return Summary(fmt::format("{} of hbase:meta show every key of every table in one region, of up to {}",
                             Counted(looks_, "look"), Counted(most_regions_, "region")),
                 "holes and overlaps in hbase:meta", {wrong_.begin(), wrong_.end()});
}

void RangeWatch::Start() {
  thread_.Start("ranges", 1, 0, [this](int /*thread*/, Prng& /*prng*/) { Look(); });
}

void RangeWatch::Stop() { thread_.Stop(); }

Finding RangeWatch::Judge() const { return judge_.Judge(); }

void RangeWatch::Look() {
  auto ranges_by_table = ReadMetaRanges(connection_, kLookTimeout);
  const bool answered = ranges_by_table.ok();  // otherwise the cluster is being broken: use the next scan
  if (answered) judge_.Take(std::move(*ranges_by_table));
  if (!answered || !judge_.in_doubt()) thread_.Pause(kBetweenScans);
}

Finding CheckRanges(client::Connection& connection) {
  RangeJudge judge;
  for (int look = 0; look < kLooksAtTheEnd; ++look) {
    auto ranges_by_table = ReadMetaRanges(connection, kCheckTimeout);
    if (!ranges_by_table.ok()) return {false, "hbase:meta cannot be read: " + ranges_by_table.error().ToString()};
    judge.Take(std::move(*ranges_by_table));
    if (!judge.in_doubt()) break;
  }
  return judge.Judge();
}

}  // namespace ratchet::chaos
