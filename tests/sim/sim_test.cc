// The fixed set of seeds that every build runs.
#include "tests/sim/simulation.h"

#include <gtest/gtest.h>

#include "common/base/mutant.h"

namespace ratchet::sim {
namespace {

SimSummary RunSeed(std::uint64_t seed, std::uint64_t steps) {
  SimOptions options;
  options.seed = seed;
  options.steps = steps;
  return Simulation(options).Run();
}

TEST(SimulationTest, FixedSeeds) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const SimSummary summary = RunSeed(seed, 1'500);
    for (const std::string& violation : summary.violations) ADD_FAILURE() << "seed " << seed << ": " << violation;
    EXPECT_GT(summary.succeeded + summary.undone, 0U) << "seed " << seed;
  }
}

TEST(SimulationTest, EverySeedRepeatsItself) {
  const SimSummary first = RunSeed(77, 1'500);
  const SimSummary second = RunSeed(77, 1'500);
  EXPECT_EQ(first.crashes, second.crashes);
  EXPECT_EQ(first.succeeded, second.succeeded);
  EXPECT_EQ(first.undone, second.undone);
}

class MutantTest : public ::testing::TestWithParam<const char*> {};

// Leaving a rule out must be noticed within a bounded number of seeds.
TEST_P(MutantTest, IsNoticed) {
  const ScopedMutant mutant(GetParam());
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    if (!RunSeed(seed, 2'000).violations.empty()) return;
  }
  ADD_FAILURE() << GetParam() << " was not noticed";
}

INSTANTIATE_TEST_SUITE_P(Rules, MutantTest,
                         ::testing::Values("procedure.undo_oldest_first", "procedure.keep_succeeded",
                                           "procedure.no_lock_restore", "procedure.grant_not_durable"));

}  // namespace
}  // namespace ratchet::sim
