#include "master/storage/log_chain.h"

#include <cstddef>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "common/base/mutant.h"

namespace ratchet::master {
namespace {

MeasuredLog MissingLog(const MeasuredLog& successor, std::uint64_t number) {
  MeasuredLog missing;
  missing.name = {successor.name.prefix, number};
  missing.log.name = io::ToString(missing.name);
  missing.log.meta = successor.log.meta;
  missing.log.missing = true;
  return missing;
}

}  // namespace

std::vector<std::string> AddMissingLogs(std::vector<MeasuredLog>& logs, const std::string& prefix,
                                        std::uint64_t covered_up_to, std::uint64_t made_up_to) {
  std::vector<std::string> missing;
  std::set<std::uint64_t> there;
  for (const MeasuredLog& log : logs) there.insert(log.name.number);
  for (std::uint64_t number = covered_up_to + 1; number <= made_up_to; ++number) {
    if (there.contains(number) || RATCHET_MUTANT("log.missing_is_none")) continue;
    MeasuredLog log;
    log.name = {prefix, number};
    log.log.name = io::ToString(log.name);
    log.log.meta = prefix == io::kMetaLogPrefix;
    log.log.missing = true;
    missing.push_back(log.log.name);
    logs.push_back(std::move(log));
  }
  return missing;
}

std::vector<std::string> ExpectMissingRecords(std::vector<MeasuredLog>& logs, std::uint64_t covered_up_to) {
  std::vector<std::string> findings;
  // Number of the last record before the current log; nullopt if unknown.
  std::optional<std::uint64_t> last = covered_up_to == 0 ? std::optional<std::uint64_t>(0) : std::nullopt;
  std::optional<std::size_t> empty;  // the first log without a record since then
  for (std::size_t i = 0; i < logs.size(); ++i) {
    const MeasuredLog& log = logs[i];
    if (log.first_sequence == 0 && !log.damaged) {
      if (!empty) empty = i;
      continue;
    }
    if (last && !log.damaged && log.first_sequence > *last + 1 && !RATCHET_MUTANT("log.any_end")) {
      const std::uint64_t missing_from = *last + 1;
      const std::uint64_t expected = log.first_sequence - 1;
      const std::uint64_t before = i == 0 ? covered_up_to : logs[i - 1].name.number;
      std::size_t shorter = empty.value_or(i == 0 ? 0 : i - 1);
      if (!empty && log.name.number > before + 1) {
        logs.insert(logs.begin() + static_cast<std::ptrdiff_t>(i), MissingLog(log, before + 1));
        shorter = i;
        ++i;
      }
      logs[shorter].log.last_sequence = expected;
      logs[shorter].log.regions.reset();  // S171 (seal makes an index): of a whole log only
      findings.push_back(fmt::format("{}: records {} to {} are missing, because {} begins with {}",
                                     logs[shorter].log.name, missing_from, expected, logs[i].log.name, expected + 1));
    }
    last = logs[i].damaged ? std::nullopt : std::optional(logs[i].log.last_sequence);
    empty.reset();
  }
  return findings;
}

}  // namespace ratchet::master
