// ratchet-sim --seed N --steps K [--runs R]: the procedure framework under simulation; exit code 1 when a rule was broken.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/prng.h"
#include "tests/sim/simulation.h"

namespace {

std::uint64_t NumberAfter(int argc, char** argv, const std::string& flag, std::uint64_t fallback) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (argv[i] == flag) return std::strtoull(argv[i + 1], nullptr, 10);
  }
  return fallback;
}

}  // namespace

int main(int argc, char** argv) {
  using ratchet::sim::SimOptions;
  using ratchet::sim::SimSummary;
  ratchet::ConfigureLog({ratchet::LogLevel::kError, ""});
  SimOptions options;
  options.steps = NumberAfter(argc, argv, "--steps", options.steps);
  const std::uint64_t first = NumberAfter(argc, argv, "--seed", ratchet::RandomSeed() % 1'000'000'000);
  const std::uint64_t runs = NumberAfter(argc, argv, "--runs", 1);
  SimSummary total;
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t seed = first; seed < first + runs; ++seed) {
    options.seed = seed;
    const SimSummary summary = ratchet::sim::Simulation(options).Run();
    total.steps += summary.steps;
    total.submitted += summary.submitted;
    total.succeeded += summary.succeeded;
    total.undone += summary.undone;
    total.comparisons += summary.comparisons;
    for (std::size_t i = 0; i < total.crashes.size(); ++i) total.crashes[i] += summary.crashes[i];
    if (!summary.violations.empty()) {
      for (const std::string& violation : summary.violations) std::cout << "VIOLATION " << violation << "\n";
      std::cout << fmt::format("reproduce: ratchet-sim --seed {} --steps {}\n", seed, options.steps);
      return 1;
    }
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::uint64_t crashes = 0;
  std::string phases;
  for (std::size_t i = 0; i < total.crashes.size(); ++i) {
    crashes += total.crashes[i];
    phases += fmt::format("{}{}={}", i == 0 ? "" : ", ", ratchet::sim::kCrashPhaseNames[i], total.crashes[i]);
  }
  std::cout << fmt::format("seeds {}..{}: {} moves, {} trees ({} succeeded, {} undone), {} reload comparisons\n", first,
                           first + runs - 1, total.steps, total.submitted, total.succeeded, total.undone, total.comparisons);
  std::cout << fmt::format("crashes {} ({}), {:.0f} a minute\n", crashes, phases, crashes / seconds * 60);
  return 0;
}
