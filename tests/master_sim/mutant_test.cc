// The simulation must detect each mutant of a rule within a bounded number of seeds. A sanitizer adds nothing here.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "tests/master_sim/master_simulation.h"

namespace ratchet::simulation {
namespace {

constexpr std::uint64_t kSeeds = 2'000;

class MasterSimMutants : public ::testing::TestWithParam<const char*> {
 protected:
  MasterSimMutants() { ConfigureLog({LogLevel::kError, "/dev/null"}); }
};

TEST_P(MasterSimMutants, IsNoticed) {
  const ScopedMutant mutant(GetParam());
  MasterSimOptions options;
  for (options.seed = 1; options.seed <= kSeeds; ++options.seed) {
    if (MasterSimulation(options).Run().violations.empty()) continue;
    fmt::print("{}: noticed at seed {}\n", GetParam(), options.seed);
    return;
  }
  ADD_FAILURE() << GetParam() << " was not noticed";
}

INSTANTIATE_TEST_SUITE_P(Rules, MasterSimMutants,
                         ::testing::Values("master.settle_by_timeout", "master.settle_at_crash",
                                           "master.assign_before_split", "master.take_dead_reports",
                                           "master.reuse_directory", "orders.forget_executed", "master.no_second_look",
                                           "master.forget_split_places", "batch.end_without_answer",
                                           "batch.one_for_all"));

}  // namespace
}  // namespace ratchet::simulation
