#include "master/requests/foreign_numbers.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/base/mutant.h"
#include "common/base/went_back.h"
#include "master/cluster/table_directory.h"
#include "master/env/cluster_files.h"
#include "procedure/api/executor.h"

namespace ratchet::master {
namespace {

constexpr const char* kPutBack = "stop the masters, put the newest procedures/ and numbers/ back; nothing was changed";

}  // namespace

Status CheckReportedEpoch(Epoch mine, Epoch reported, const std::string& from) {
  if (reported <= mine || RATCHET_MUTANT("guard.any_reported_number")) return Ok();
  return WentBack(
      fmt::format("the root is an older copy: {} has orders of epoch {}, but this master is of epoch {}, "
                  "the highest one that was claimed here: {}",
                  from, reported, mine, kPutBack));
}

Status CheckReportedPid(const procedure::Executor& executor, std::uint64_t number, const std::string& from) {
  if (number == 0) return Ok();
  const ProcId largest = executor.LargestPid();
  if (number <= largest.value() || RATCHET_MUTANT("guard.any_reported_number")) return Ok();
  return WentBack(
      fmt::format("the root is an older copy: {} has the number {}, but the largest pid of procedures/ is "
                  "{}: {}",
                  from, number, largest, kPutBack));
}

Status CheckNumbersOf(const procedure::Executor& executor, const MetaContents& contents) {
  std::uint64_t largest = 0;
  std::string from;
  for (const RegionRow& row : contents.regions) {
    const std::uint64_t number = std::max({row.issued, row.served, row.build_number});
    if (number <= largest) continue;
    largest = number;
    from = row.region.encoded_name();
  }
  if (!from.empty()) from = fmt::format("region {} in hbase:meta", from);
  for (const TableRow& row : contents.tables) {
    const ProcId creator = CreatorOf(row.directory);
    if (!creator.valid() || creator.value() <= largest) continue;
    largest = creator.value();
    from = fmt::format("table {} in hbase:meta", row.table.ToString());
  }
  return CheckReportedPid(executor, largest, from);
}

}  // namespace ratchet::master
