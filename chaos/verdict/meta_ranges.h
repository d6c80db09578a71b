// Checks the key ranges of every table in hbase:meta: no hole and no overlap, at any time.
//
// A table is checked while its own row exists: that row is written after those of its regions and deleted before them
// (S66: table row last in, first out). A scan does not read one moment: after a commit in its middle, it shows a table
// half before and half after the commit. So a table is wrong when two scans, one after the other, show the same regions
// of it: every commit changes the regions, and what the second scan shows is not from before the end of the first one.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "chaos/workloads/key_ranges.h"
#include "chaos/workloads/load.h"
#include "chaos/workloads/workload.h"
#include "common/client/connection.h"

namespace ratchet::chaos {

// Regions by encoded name, without those that were split or merged and wait for the janitor.
using RegionRanges = std::map<std::string, KeyRange>;
using MetaRanges = std::map<std::string, RegionRanges>;  // by table

// Reads the ranges with one scan.
[[nodiscard]] Result<MetaRanges> ReadMetaRanges(client::Connection& connection, Millis timeout);

// Judges a sequence of scans. Pure.
class RangeJudge {
 public:
  void Take(MetaRanges ranges_by_table);
  // True when the last scan shows a hole or overlap that another scan must confirm.
  [[nodiscard]] bool in_doubt() const { return !doubtful_.empty(); }
  [[nodiscard]] Finding Judge() const;

 private:
  std::uint64_t looks_ = 0;
  std::size_t most_regions_ = 0;
  MetaRanges doubtful_;  // tables with a hole or an overlap at the last look
  std::set<std::string> wrong_;
};

// Scans during the whole run, on a thread of its own. Start, Stop and Judge by one thread.
class RangeWatch {
 public:
  explicit RangeWatch(client::Connection& connection) : connection_(connection) {}
  void Start();
  void Stop();
  [[nodiscard]] Finding Judge() const;  // after Stop

 private:
  void Look();
  client::Connection& connection_;
  RangeJudge judge_;  // used by the thread, and by the caller after the thread has ended
  LoadThreads thread_;
};

// For a cluster that has settled: scans until two scans agree.
[[nodiscard]] Finding CheckRanges(client::Connection& connection);

}  // namespace ratchet::chaos
