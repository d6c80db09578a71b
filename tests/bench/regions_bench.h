// Measurements of regions_bench: each number is the time of one tick or one action with the given number of regions.
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

// Returns the best of `times` runs of `act`, in microseconds.
double BestOf(int times, const std::function<void()>& act);

// Each measures one number for `regions` regions. The master's side:
double PlacementBeside(std::size_t regions);  // one plan while this number of plans is unsettled
double DispatchBeside(std::size_t regions);   // one order while this number of orders waits for the same server
double SweepOf(std::size_t regions);          // one sweep of the reconciler without changes
double FullListTaken(std::size_t regions);    // the master processes a full list of one server with all regions
double HeartbeatTaken(std::size_t regions);   // the master processes a list without changes
double BootWith(std::size_t regions);         // a master's start until hbase:meta is in memory
double CleanerRun(std::size_t regions, const std::string& dir);  // one search for files to retire
// A region server's side; all of the server's regions have an entry in its log.
struct ServerCosts {
  double first_heartbeat = 0;  // building a report for a new master
  double heartbeat = 0;        // building a report without changes
  double logs = 0;             // upkeep of the logs
};
ServerCosts ServerWith(std::size_t regions);

}  // namespace ratchet::bench
