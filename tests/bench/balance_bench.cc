// Measures the balancer's plans: their time, their number of moves, and their quality compared with a bound.
//
// Usage: balance_bench [--servers N] [--regions N] [--tables N] [--new N] [--seed N] Regions are spread evenly over the
// servers, except the last `--new` ones, which are empty. Requests follow a power law: a few regions have most of the
// requests. The bound: in any plan the busiest server has at least the mean of all, and at least the busiest region.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "common/base/prng.h"
#include "master/policy/stochastic_plan.h"

namespace ratchet::master {
namespace {

struct Flags {
  std::uint64_t servers = 1'000;
  std::uint64_t regions = 100'000;
  std::uint64_t tables = 100;
  std::uint64_t fresh = 10;
  std::uint64_t seed = 0;
};

bool Parse(int argc, char** argv, Flags& flags) {
  const std::map<std::string, std::uint64_t*> known{{"--servers", &flags.servers},
                                                    {"--regions", &flags.regions},
                                                    {"--tables", &flags.tables},
                                                    {"--new", &flags.fresh},
                                                    {"--seed", &flags.seed}};
  for (int i = 1; i + 1 < argc; i += 2) {
    const auto flag = known.find(argv[i]);
    if (flag == known.end()) return false;
    *flag->second = std::stoull(argv[i + 1]);
  }
  return argc % 2 == 1 && flags.servers > flags.fresh && flags.regions > 0 && flags.tables > 0;
}

struct Loads {
  double busiest = 0;
  double regions = 0;  // of the fullest server
};

Loads LoadsOf(const std::vector<WeighedRegion>& regions, const std::vector<BalanceMove>& moves) {
  std::map<std::string, ServerName> moved;
  for (const BalanceMove& move : moves) moved.emplace(move.encoded, move.to);
  std::map<ServerName, Loads> sums;
  for (const WeighedRegion& each : regions) {
    const auto to = moved.find(each.region.encoded);
    Loads& sum = sums[to == moved.end() ? each.region.server : to->second];
    sum.busiest += each.requests;
    sum.regions += 1;
  }
  Loads most;
  for (const auto& [server, sum] : sums) {
    most.busiest = std::max(most.busiest, sum.busiest);
    most.regions = std::max(most.regions, sum.regions);
  }
  return most;
}

int Run(const Flags& given) {
  Flags flags = given;
  if (flags.seed == 0) flags.seed = RandomSeed();
  Prng prng(flags.seed);
  std::vector<ServerName> servers;
  for (std::uint64_t i = 0; i < flags.servers; ++i) servers.push_back({fmt::format("s{:05}", i), 1, 1});
  std::vector<WeighedRegion> regions;
  double all = 0;
  double greatest = 0;
  for (std::uint64_t i = 0; i < flags.regions; ++i) {
    const double requests = 1'000.0 / std::pow(1.0 + static_cast<double>(prng.Below(flags.regions)), 0.7);
    regions.push_back(
        {{fmt::format("r{:08}", i), fmt::format("t{}", i % flags.tables), servers[i % (flags.servers - flags.fresh)]},
         requests,
         static_cast<double>(prng.Below(1'000))});
    all += requests;
    greatest = std::max(greatest, requests);
  }
  const double bound = std::max(all / static_cast<double>(flags.servers), greatest);
  std::cout << fmt::format("seed {}: {} regions of {} tables, {} servers, {} of them new\n", flags.seed, flags.regions,
                           flags.tables, flags.servers, flags.fresh);
  std::cout << fmt::format("{:<12} {:>8} {:>8} {:>9} {:>9} {:>16} {:>15}\n", "plan", "ms", "moves", "cost", "skew",
                           "busiest / bound", "fullest server");
  for (const std::size_t steps : {std::size_t{0}, std::size_t{100'000}, StochasticOptions().most_steps}) {
    StochasticOptions options;
    options.most_steps = steps;
    options.seed = flags.seed;
    const auto begin = std::chrono::steady_clock::now();
    const StochasticPlan plan = PlanStochastically(servers, regions, options);
    const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    const Loads loads = LoadsOf(regions, plan.moves);
    if (steps == 0) {
      const Loads now = LoadsOf(regions, {});
      std::cout << fmt::format("{:<12} {:>8} {:>8} {:>9.5f} {:>9.5f} {:>16.2f} {:>15}\n", "(as it is)", "", "",
                               plan.before.total, plan.before.requests, now.busiest / bound, now.regions);
    }
    std::cout << fmt::format("{:<12} {:>8.0f} {:>8} {:>9.5f} {:>9.5f} {:>16.2f} {:>15}\n",
                             steps == 0 ? "simple" : fmt::format("{} steps", plan.steps), ms, plan.moves.size(),
                             plan.after.total, plan.after.requests, loads.busiest / bound, loads.regions);
  }
  return 0;
}

}  // namespace
}  // namespace ratchet::master

int main(int argc, char** argv) {
  ratchet::master::Flags flags;
  if (!ratchet::master::Parse(argc, argv, flags)) {
    std::cerr << "Usage: balance_bench [--servers N] [--regions N] [--tables N] [--new N] [--seed N]\n";
    return 2;
  }
  return ratchet::master::Run(flags);
}
