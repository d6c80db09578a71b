// What the logs of one life say of each other: a region server numbers the records of all its logs of one prefix in one
// row, from 1 on. Where the numbers do not meet, records are missing, although each log is sound by itself (S96).
// A function of what it is given.
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
  std::uint64_t first_sequence = 0;  // of its first record; 0: it has none
  bool damaged = false;              // its own bytes say so already; it may have had more records than are known
};

// `logs`: those of one prefix that manifests do not cover, by number; `covered_up_to`: number of the newest that they
// do, 0: none. A log that has fewer records than its successor says gets the last number that it must have had, so that
// its split finds them missing (S57). A log that is missing as a whole is added. Returns a line for each finding.
[[nodiscard]] std::vector<std::string> ExpectMissingRecords(std::vector<MeasuredLog>& logs,
                                                            std::uint64_t covered_up_to);

}  // namespace ratchet::master
