// The key ranges of every table, as clients find them in hbase:meta: no hole and no overlap, at any time.
//
// A table counts while its own row is there: that row is written after those of its regions and goes before them
// (S66). A scan is not of one moment: a commit in its middle shows a table half before and half after it. So a table is
// wrong when two scans, one after the other, show the same regions of it: every commit changes the regions, and what
// the second scan shows is not from before the end of the first one.
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

// Regions by encoded name; those that were split or merged, and wait for the janitor, are left out.
using RegionRanges = std::map<std::string, KeyRange>;
using MetaPicture = std::map<std::string, RegionRanges>;  // by table

// One scan.
[[nodiscard]] Result<MetaPicture> ReadMetaRanges(client::Connection& connection, Millis timeout);

// What pictures, one after the other, prove. Pure.
class RangeJudge {
 public:
  void Take(MetaPicture picture);
  // True: the last picture shows something that another one must confirm.
  [[nodiscard]] bool in_doubt() const { return !doubtful_.empty(); }
  [[nodiscard]] Finding Judge() const;

 private:
  std::uint64_t pictures_ = 0;
  std::size_t most_regions_ = 0;
  MetaPicture doubtful_;  // tables with a hole or an overlap in the last picture
  std::set<std::string> wrong_;
};

// Looks of the whole of a run, by a thread of its own. Start, Stop and Judge by one thread.
class RangeWatch {
 public:
  explicit RangeWatch(client::Connection& connection) : connection_(connection) {}
  void Start();
  void Stop();
  [[nodiscard]] Finding Judge() const;  // after Stop

 private:
  void Look();
  client::Connection& connection_;
  RangeJudge judge_;  // of the thread, and of the caller's after it has ended
  LoadThreads thread_;
};

// Of a cluster that has settled: a few looks, until two agree.
[[nodiscard]] Finding CheckRanges(client::Connection& connection);

}  // namespace ratchet::chaos
