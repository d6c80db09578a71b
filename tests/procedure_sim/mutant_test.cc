// The simulation must detect each mutant within a bounded number of seeds. Prints the check that detected it, the
// number of runs and the time, for the table in docs/mutants.md.
#include <ctime>
#include <iostream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "tests/procedure_sim/simulation.h"

namespace ratchet::sim {
namespace {

struct Case {
  const char* mutant;
  bool wal = false;
};

class SimulationMutantTest : public ::testing::TestWithParam<Case> {};

TEST_P(SimulationMutantTest, IsNoticed) {
  const auto& [name, wal] = GetParam();
  const ScopedMutant mutant(name);
  const std::clock_t begin = std::clock();
  SimOptions options;
  options.wal = wal;
  for (options.seed = 1; options.seed <= 500; ++options.seed) {
    const SimSummary summary = Simulation(options).Run();
    if (summary.violations.empty()) continue;
    const std::string& first = summary.violations.front();
    std::cout << fmt::format("| `{}` | {} | {} | {:.2f} s |\n", name, first.substr(0, first.find(':')), options.seed,
                             static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
    return;
  }
  ADD_FAILURE() << name << " was not noticed";
}

INSTANTIATE_TEST_SUITE_P(Rules, SimulationMutantTest,
                         ::testing::Values(Case{"procedure.ignore_ticket"}, Case{"procedure.ack_before_commit"},
                                           Case{"procedure.undo_oldest_first"}, Case{"procedure.keep_succeeded"},
                                           Case{"procedure.no_lock_restore"}, Case{"procedure.grant_not_durable"},
                                           Case{"procedure.child_releases"}, Case{"procedure.waiting_step_releases"},
                                           Case{"procedure.act_before_commit"}, Case{"procedure.system_record_apart"},
                                           Case{"procedure.load_keeps_waiting"}, Case{"procedure.wake_from_counter"},
                                           Case{"procedure.release_before_commit"}, Case{"procedure.any_lock_order"},
                                           Case{"procedure.nonces_in_memory"}, Case{"procedure.no_turns"}),
                         [](const auto& each) {
                           std::string name = each.param.mutant;
                           name.replace(name.find('.'), 1, "_");
                           return name;
                         });

}  // namespace
}  // namespace ratchet::sim
