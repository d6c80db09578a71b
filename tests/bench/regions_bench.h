// What regions_bench measures, and how: each figure is the time of one tick or one act while so many regions exist.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace ratchet::bench {

// One line of the table: microseconds with 1,000, 10,000 and 100,000 regions.
struct RegionCost {
  std::string what;
  std::vector<double> us;
};

// The best of `times` runs of `act`, in microseconds.
double BestOf(int times, const std::function<void()>& act);

// Each fills in one number for `regions` regions. The master's side:
double PlacementBeside(std::size_t regions);  // one plan while so many others are not settled
double DispatchBeside(std::size_t regions);   // one order while so many others wait for the same server
double SweepOf(std::size_t regions);          // the reconciler's, when nothing has changed since the last one
double FullListTaken(std::size_t regions);    // the master takes in a full list of a server with all of them
double HeartbeatTaken(std::size_t regions);   // the same when the list says that nothing has changed
double BootWith(std::size_t regions);         // a master's start until hbase:meta is in memory
double CleanerRun(std::size_t regions, const std::string& dir);  // one look for what is to be retired
// A region server's side; all of the server's regions have an entry in its log.
struct ServerCosts {
  double first_heartbeat = 0;  // filling in a report for a master that knows nothing yet
  double heartbeat = 0;        // the same when nothing has changed since the one before
  double logs = 0;             // looking after the logs
};
ServerCosts ServerWith(std::size_t regions);

}  // namespace ratchet::bench
