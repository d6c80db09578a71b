// The flags of ratchet-chaos.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "chaos/driver/schedule.h"
#include "chaos/verdict/guards.h"
#include "common/base/clock.h"
#include "common/base/result.h"

namespace ratchet::chaos {

struct ChaosOptions {
  std::string scenario;             // empty: "everything", unless `faults`, `at` or `kill_steps` are set
  std::vector<std::string> faults;  // kinds instead of a scenario
  std::vector<std::string> at;      // fault points
  std::vector<std::string> kill_steps;
  Millis duration{60'000};
  Millis period{0};                    // 0: the scenario's
  std::int64_t intensity = 0;          // 0: the scenario's
  std::int64_t seed = 0;               // 0: a random seed
  std::vector<std::string> workloads;  // empty: all that need one cluster, and with `clients` those of its programs
  std::string clients;                 // directory of client programs in other languages; empty: none
  std::string released;                // directory of a release's servers; empty: none
  std::int64_t threads = 3;            // threads of each workload
  std::int64_t regions = 12;           // regions of each workload's table
  std::string target = "local";
  bool compose = false;
  std::string project;  // Compose's project name
  std::string dir;
  std::int64_t zookeepers = 0;  // 0: three when a fault of the plan needs an ensemble, else one
  std::int64_t masters = 2;
  std::int64_t servers = 3;
  std::string storage = "local";
  Millis session{2000};
  std::uint64_t disk_bytes = 0;
  double min_traffic = 20;
  double max_unknown = 5;  // per cent
  double gap_factor = 1;   // of the bounds on gaps (gap_bounds.h); 0: they are not judged
  Millis settle{60'000};
  std::string bundle;
  std::string history;
  std::string json;
  std::string html;
  bool secure = false;  // TLS, enforced rights, audit logs, and clients that may not
  bool keep = false;
  bool list = false;

  [[nodiscard]] GuardLimits limits() const { return {min_traffic, max_unknown / 100, 0.5}; }
};

// The faults of a run, from its scenario and the flags that name single faults.
struct Plan {
  std::string name;  // the scenario's name, or "chosen"
  std::vector<WeightedFault> mix;
  Millis period{0};
  std::size_t intensity = 1;
};

// Returns -1 to continue, otherwise the exit code. Sets defaults: target, seed, directories.
[[nodiscard]] int ParseChaosOptions(int argc, const char* const* argv, ChaosOptions* options);

// `kinds` is every existing kind. kInvalidArgument names what is wrong.
[[nodiscard]] Result<Plan> MakePlan(const ChaosOptions& options, const std::vector<std::string_view>& kinds);

// Returns the command line that repeats the run: all flags without their default, and the seed.
[[nodiscard]] std::string ReplayCommand(const ChaosOptions& options);

}  // namespace ratchet::chaos
