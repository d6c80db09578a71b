// Fixed seeds, fresh seeds, and seeds that found a defect.
#include <cstdio>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/base/log.h"
#include "common/base/prng.h"
#include "tests/master_sim/master_simulation.h"
#include "tests/support/sanitized.h"

namespace ratchet::simulation {
namespace {

constexpr std::uint64_t kFixedSeeds = testing::SeedsHere(50);
constexpr std::uint64_t kFreshSeeds = testing::SeedsHere(150);

MasterSimSummary RunSeed(std::uint64_t seed) {
  MasterSimOptions options;
  options.seed = seed;
  return MasterSimulation(options).Run();
}

class MasterSimTest : public ::testing::Test {
 protected:
  MasterSimTest() { ConfigureLog({LogLevel::kError, "/dev/null"}); }
};

// Reports the violations of one seed, each with the command that repeats it.
void ExpectSound(const MasterSimSummary& summary, std::uint64_t seed) {
  for (const std::string& violation : summary.violations) {
    ADD_FAILURE() << violation << "\nreproduce: ratchet-master-sim --seed " << seed << " --trace";
  }
}

TEST_F(MasterSimTest, FixedSeeds) {
  MasterSimSummary total;
  for (std::uint64_t seed = 1; seed <= kFixedSeeds; ++seed) {
    const MasterSimSummary summary = RunSeed(seed);
    ExpectSound(summary, seed);
    total.succeeded += summary.succeeded;
    total.server_faults += summary.server_faults;
    total.died_at_commit += summary.died_at_commit;
    total.deposed += summary.deposed;
  }
  // A run without events does not pass.
  EXPECT_GT(total.succeeded, kFixedSeeds * 5);
  EXPECT_GT(total.server_faults, kFixedSeeds * 3);
  EXPECT_GT(total.died_at_commit, kFixedSeeds / 2);
  EXPECT_GT(total.deposed, 0U);
}

TEST_F(MasterSimTest, FreshSeeds) {
  const std::uint64_t first = RandomSeed() % 1'000'000'000;
  // Printed before the first run: a failed CHECK of the master may end this process.
  fmt::print("fresh seeds: ratchet-master-sim --seed {} --runs {}\n", first, kFreshSeeds);
  std::fflush(stdout);
  for (std::uint64_t seed = first; seed < first + kFreshSeeds && !HasFailure(); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    ExpectSound(RunSeed(seed), seed);
  }
}

// Findings of longer runs: ended repairs, a rerun before a state was shown, a damaged region that a repair had made.
TEST_F(MasterSimTest, SeedsThatFoundSomething) {
  for (const std::uint64_t seed :
       {1000431, 5003831, 7006299, 7103910, 7305978, 7507609, 8201154, 175560525, 8501950, 21012635, 51018964}) {
    MasterSimOptions options;
    options.seed = seed;
    options.moves = 150;
    options.reshapes = false;  // these seeds were found before reshapes existed
    options.upkeep = false;
    for (const std::string& violation : MasterSimulation(options).Run().violations) {
      ADD_FAILURE() << violation << "\nreproduce: ratchet-master-sim --seed " << seed
                    << " --moves 150 --no-reshapes --no-upkeep --trace";
    }
  }
}

// An operator parked the first of two requests for one switch, so that it was executed last (797889035). An operator
// aborted a give-up after the assignment of its region had ended for it (92001805).
TEST_F(MasterSimTest, LaterSeedsThatFoundSomething) {
  for (const std::uint64_t seed : {797889035, 92001805}) {
    MasterSimOptions options;
    options.seed = seed;
    options.moves = 150;
    for (const std::string& violation : MasterSimulation(options).Run().violations) {
      ADD_FAILURE() << violation << "\nreproduce: ratchet-master-sim --seed " << seed << " --moves 150 --trace";
    }
  }
}

TEST_F(MasterSimTest, EverySeedRepeatsItself) {
  const MasterSimSummary first = RunSeed(77);
  EXPECT_EQ(first.trace, RunSeed(77).trace);
  EXPECT_GT(first.trace.size(), 50U);
}

}  // namespace
}  // namespace ratchet::simulation
