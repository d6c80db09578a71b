// Measures the work that grows with the number of regions: heartbeats, the reconciler's sweep, the cleaner, placement,
// dispatch and boot, in one process, without a network, and with a disk only for the cleaner. Not a test.
//
// regions_bench [--dir DIR] [--most N] [--only WORD]. Prints a RESULT line for each case, then the table: the time with
// 1,000, 10,000 and 100,000 regions, and the growth per factor of ten. 10.0 means linear growth, 1.0 means constant
// time.
#include "tests/bench/regions_bench.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string_view>

#include <fmt/core.h>

#include "common/base/log.h"

namespace ratchet::bench {

double BestOf(int times, const std::function<void()>& act) {
  double best = 0;
  for (int i = 0; i < times; ++i) {
    const auto begun = std::chrono::steady_clock::now();
    act();
    const double us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begun).count();
    if (i == 0 || us < best) best = us;
  }
  return best;
}

namespace {

void PrintTable(const std::vector<RegionCost>& costs, const std::vector<std::size_t>& sizes) {
  fmt::print("{:<34}", "us");
  for (const std::size_t size : sizes) fmt::print(" {:>13}", size);
  fmt::print("   growth each tenfold\n");
  for (const RegionCost& cost : costs) {
    fmt::print("{:<34}", cost.what);
    for (const double us : cost.us) fmt::print(" {:>13.1f}", us);
    fmt::print("  ");
    for (std::size_t i = 1; i < cost.us.size(); ++i) fmt::print(" {:.1f}", cost.us[i] / std::max(cost.us[i - 1], 0.01));
    fmt::print("\n");
  }
}

int Main(int argc, char** argv) {
  std::string dir = "build/bench/regions";
  std::string only;
  std::size_t most = 100'000;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    if (name == "--dir")
      dir = argv[i + 1];
    else if (name == "--most")
      most = std::strtoull(argv[i + 1], nullptr, 10);
    else if (name == "--only")
      only = argv[i + 1];
    else
      return fmt::print(stderr, "regions_bench: unknown argument '{}'\n", name), 2;
  }
  ConfigureLog({LogLevel::kError, {}});
  std::vector<std::size_t> sizes;
  for (std::size_t size = 1'000; size <= most; size *= 10) sizes.push_back(size);
  const std::vector<std::pair<std::string, std::function<double(std::size_t)>>> cases{
      {"placement: one more plan", PlacementBeside},
      {"dispatch: one more order", DispatchBeside},
      {"sweep", SweepOf},
      {"heartbeat, on the master", HeartbeatTaken},
      {"full list, on the master", FullListTaken},
      {"boot: meta into memory", BootWith},
      {"cleaner: one run", [&dir](std::size_t regions) { return CleanerRun(regions, dir); }},
  };
  std::vector<RegionCost> costs;
  const auto keep = [&costs](const std::string& what, std::size_t regions, double us) {
    fmt::print("RESULT [case={}, regions={}, us={:.1f}]\n", what, regions, us);
    std::fflush(stdout);
    for (RegionCost& cost : costs)
      if (cost.what == what) return cost.us.push_back(us);
    costs.push_back({what, {us}});
  };
  for (const auto& [what, measure] : cases) {
    if (what.find(only) == std::string::npos) continue;
    for (const std::size_t size : sizes) keep(what, size, measure(size));
  }
  if (std::string("heartbeat, on the server; logs").find(only) != std::string::npos) {
    for (const std::size_t size : sizes) {
      const ServerCosts server = ServerWith(size);
      keep("heartbeat, on the server", size, server.heartbeat);
      keep("full list, on the server", size, server.first_heartbeat);
      keep("looking after logs", size, server.logs);
    }
  }
  PrintTable(costs, sizes);
  return 0;
}

}  // namespace
}  // namespace ratchet::bench

int main(int argc, char** argv) { return ratchet::bench::Main(argc, argv); }
