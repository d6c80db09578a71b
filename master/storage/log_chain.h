// Finds missing records in the logs of one server run: a region server numbers the records of all its logs of one
// prefix consecutively, from 1 on. A gap between two logs shows missing records, although each log is valid by itself
// (S96: log chain). Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/io/unneeded_files.h"
#include "master/env/orders.h"

namespace ratchet::master {

struct MeasuredLog {
  SealedLog log;
  io::LogFileName name;
  std::uint64_t first_sequence = 0;  // of its first record; 0 if it has none
  bool damaged = false;              // its content is damaged, so it may have had more records than are known
};

// S119 (made logs are required): adds each log of `prefix` with a number above `covered_up_to`, up to
// `made_up_to`, that is not among `logs`, as a missing one. Returns the names of these.
[[nodiscard]] std::vector<std::string> AddMissingLogs(std::vector<MeasuredLog>& logs, const std::string& prefix,
                                                      std::uint64_t covered_up_to, std::uint64_t made_up_to);

// `logs`: logs of one prefix that manifests do not cover, by number. `covered_up_to`: number of the newest covered log;
// 0 if there is none. A log with fewer records than its successor implies gets the last number that it must have had,
// so that its split reports the missing records (S57: damaged log is split as far as readable). A log that is missing
// as a whole is added. Returns a line for each finding.
[[nodiscard]] std::vector<std::string> ExpectMissingRecords(std::vector<MeasuredLog>& logs,
                                                            std::uint64_t covered_up_to);

}  // namespace ratchet::master
