// A fixed set of seeds and a fresh one, on records in memory and on the real store.
#include "tests/procedure_sim/simulation.h"

#include <iostream>

#include <gtest/gtest.h>

#include "tests/support/sanitized.h"

namespace ratchet::sim {
namespace {

constexpr std::uint64_t kSeeds = testing::SeedsHere(60);  // for each store, fixed and fresh ones

SimSummary RunSeed(std::uint64_t seed, std::uint64_t steps, bool wal = false) {
  SimOptions options;
  options.seed = seed;
  options.steps = steps;
  options.wal = wal;
  return Simulation(options).Run();
}

void ExpectSound(const SimSummary& summary, std::uint64_t seed, bool wal) {
  for (const std::string& violation : summary.violations) {
    ADD_FAILURE() << violation << "\nreproduce: ratchet-sim --seed " << seed << (wal ? " --store wal" : "");
  }
}

class SimulationTest : public ::testing::TestWithParam<bool> {};

TEST_P(SimulationTest, FixedSeedsMeetEverythingAndBreakNothing) {
  SimSummary total;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const SimSummary summary = RunSeed(seed, 3'000, GetParam());
    ExpectSound(summary, seed, GetParam());
    total.Add(summary);
    if (HasFailure()) return;
  }
  for (std::size_t i = 0; i < total.crashes.size(); ++i)
    EXPECT_GT(total.crashes[i], kSeeds * 5 / 3) << kCrashPhaseNames[i];
  for (const std::uint64_t met :
       {total.time_outs, total.lock_waits, total.undo_steps, total.reports, total.wakes, total.verbs,
        total.quiet_checks, total.succeeded, total.undone, total.pauses, total.reruns, total.bypasses, total.turns,
        total.comparisons, total.starts_paused, total.user_locks}) {
    EXPECT_GT(met, kSeeds * 5 / 6);
  }
  if (GetParam()) {
    EXPECT_GT(total.damages_refused, kSeeds / 2);
  }
}

TEST_P(SimulationTest, FreshSeeds) {
  const std::uint64_t first = RandomSeed() % 1'000'000'000;
  // Printed before the runs, because a CHECK in the framework may end this process.
  std::cout << "fresh seeds: ratchet-sim --seed " << first << " --runs " << kSeeds << (GetParam() ? " --store wal" : "")
            << std::endl;
  for (std::uint64_t seed = first; seed < first + kSeeds && !HasFailure(); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    ExpectSound(RunSeed(seed, 3'000, GetParam()), seed, GetParam());
  }
}

// The last undo of a tree and the tree's end became durable in one group, and the end was requested once more after it.
TEST(SimulationSeedTest, ATreeThatHasEndedIsNotEndedAgain) {
  ExpectSound(RunSeed(570687037, 3'000, /*wal=*/true), 570687037, true);
}

// A step in progress held up a failing tree's undo while the last child of another member ended.
TEST(SimulationSeedTest, AMemberWhoseChildrenHaveAllEndedMayWaitForTheUndo) {
  ExpectSound(RunSeed(1006212343, 3'000), 1006212343, false);
}

// Meanwhile, two members of the tree waited for each other's locks, which the undo ends.
TEST(SimulationSeedTest, WaitsThatAnUndoEndsAreNoDeadlock) { ExpectSound(RunSeed(173146531, 3'000), 173146531, false); }

TEST_P(SimulationTest, ASeedRepeatsItself) {
  const SimSummary first = RunSeed(77, 3'000, GetParam());
  const SimSummary second = RunSeed(77, 3'000, GetParam());
  EXPECT_EQ(first.crashes, second.crashes);
  EXPECT_EQ(first.succeeded, second.succeeded);
  EXPECT_EQ(first.undone, second.undone);
  EXPECT_EQ(first.undo_steps, second.undo_steps);
}

INSTANTIATE_TEST_SUITE_P(Stores, SimulationTest, ::testing::Bool(),
                         [](const auto& each) { return each.param ? "WalStore" : "Memory"; });

}  // namespace
}  // namespace ratchet::sim
