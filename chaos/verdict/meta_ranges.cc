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

Result<MetaPicture> ReadMetaRanges(client::Connection& connection, Millis timeout) {
  client::Table meta(connection, MetaTableName(), timeout);
  client::Scan scan;
  scan.columns = {{std::string(meta::kInfoFamily), std::string(meta::kRegionInfo)},
                  {std::string(meta::kInfoFamily), std::string(meta::kState)},
                  {std::string(meta::kTableFamily), std::string(meta::kTableState)}};
  auto scanner = meta.Scan(scan);
  MetaPicture of_rows;
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
  MetaPicture picture;
  for (const std::string& table : tables) picture[table] = std::move(of_rows[table]);
  return picture;
}

void RangeJudge::Take(MetaPicture picture) {
  ++pictures_;
  std::size_t regions = 0;
  MetaPicture doubtful;
  for (auto& [table, ranges] : picture) {
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
  if (pictures_ == 0) return {false, "hbase:meta could not be read once: nothing is known of the tables' ranges"};
  return Summary(fmt::format("{} of hbase:meta show every key of every table in one region, of up to {}",
                             Counted(pictures_, "look"), Counted(most_regions_, "region")),
                 "holes and overlaps in hbase:meta", {wrong_.begin(), wrong_.end()});
}

void RangeWatch::Start() {
  thread_.Start("ranges", 1, 0, [this](int /*thread*/, Prng& /*prng*/) { Look(); });
}

void RangeWatch::Stop() { thread_.Stop(); }

Finding RangeWatch::Judge() const { return judge_.Judge(); }

void RangeWatch::Look() {
  auto picture = ReadMetaRanges(connection_, kLookTimeout);
  const bool answered = picture.ok();  // else the cluster is being broken: the next one counts
  if (answered) judge_.Take(std::move(*picture));
  if (!answered || !judge_.in_doubt()) thread_.Pause(kBetweenScans);
}

Finding CheckRanges(client::Connection& connection) {
  RangeJudge judge;
  for (int look = 0; look < kLooksAtTheEnd; ++look) {
    auto picture = ReadMetaRanges(connection, kCheckTimeout);
    if (!picture.ok()) return {false, "hbase:meta cannot be read: " + picture.error().ToString()};
    judge.Take(std::move(*picture));
    if (!judge.in_doubt()) break;
  }
  return judge.Judge();
}

}  // namespace ratchet::chaos
