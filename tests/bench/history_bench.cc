// Measures the checker of histories: one key, several clients, with and without operations of unknown outcome.
//
// history_bench [operations] [clients]. Prints one line per case; the seed is fixed, so that runs are comparable.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>

#include <fmt/core.h>

#include "chaos/history/linearizability.h"
#include "tests/unit/chaos_history/random_history.h"

namespace ratchet::chaos {
namespace {

const char* Name(Linearizability verdict) {
  if (verdict == Linearizability::kYes) return "linearizable";
  return verdict == Linearizability::kNo ? "not linearizable" : "undecided";
}

void Measure(const char* what, const RandomHistoryShape& shape, bool plant_a_stale_read) {
  Prng prng(20260101);
  History history = RandomHistory(shape, prng);
  if (plant_a_stale_read) {
    Operation stale;
    stale.key = "k";
    stale.client = shape.clients;
    for (const auto& op : history) stale.invoked_ns = std::max(stale.invoked_ns, op.returned_ns + 1);
    stale.returned_ns = stale.invoked_ns + 1;
    stale.observed = "never written";
    history.push_back(stale);
  }
  const auto start = std::chrono::steady_clock::now();
  const auto verdict = CheckKey(history);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  fmt::print("{:<44} {:>8} operations {:>10.0f} operations/s {:>9} configurations  {}\n", what, history.size(),
             static_cast<double>(history.size()) / seconds, verdict.configurations, Name(verdict.verdict));
}

}  // namespace
}  // namespace ratchet::chaos

int main(int argc, char** argv) {
  using namespace ratchet::chaos;  // NOLINT(google-build-using-namespace)
  RandomHistoryShape shape;
  shape.operations = argc > 1 ? std::stoul(argv[1]) : 100'000;
  shape.clients = argc > 2 ? static_cast<std::uint32_t>(std::stoul(argv[2])) : 8;
  shape.unknown_in_1000 = 0;
  shape.distinct_values = 0;
  Measure("one key, every answer known", shape, false);
  Measure("the same, a wrong read at the end", shape, true);
  shape.operations = 80;  // number of operations of a register in the workload "registers"
  shape.unknown_in_1000 = 30;
  Measure("80 operations, 3 % of unknown outcome", shape, false);
  Measure("the same, a wrong read at the end", shape, true);
  return 0;
}
