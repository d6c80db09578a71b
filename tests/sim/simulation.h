// One seeded run of executor, scheduler, locks and store double, with crashes anywhere, judged by checkers from outside.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/base/manual_time.h"
#include "common/base/prng.h"
#include "procedure/executor.h"
#include "tests/sim/checkers.h"
#include "tests/sim/sim_store.h"
#include "tests/support/script_procedure.h"

namespace ratchet::sim {

// Where a master died. Each counts only with work in flight and a full reload afterwards.
enum class CrashPhase : std::uint8_t { kBeforeWrite, kWritten, kSynced, kPublished, kLoading, kUndoing };
inline constexpr std::array<const char*, 6> kCrashPhaseNames = {"before write", "written",  "synced",
                                                               "published",    "loading", "undoing"};

struct SimSummary {
  std::uint64_t steps = 0;
  std::uint64_t submitted = 0;
  std::uint64_t succeeded = 0;
  std::uint64_t undone = 0;
  std::uint64_t comparisons = 0;  // of memory with reloaded state
  std::array<std::uint64_t, kCrashPhaseNames.size()> crashes{};
  std::vector<std::string> violations;  // empty: all is well
};

struct SimOptions {
  std::uint64_t seed = 1;
  std::uint64_t steps = 10'000;
  std::uint64_t crash_one_in = 12;  // moves
  std::size_t max_live = 6;         // trees at once
  bool trace = false;
};

class Simulation {
 public:
  explicit Simulation(const SimOptions& options);
  ~Simulation();
  SimSummary Run();

 private:
  struct Life;
  struct Tree {
    std::string name;
    testing::pb::Script script;
    std::uint64_t nonce = 0;
    ProcId pid;       // invalid until answered
  };

  void NewLife();
  void Move();
  void SubmitTree(Tree& tree);
  void Crash();
  void DieWhileLoading();
  void CompareWithReload();
  void DescribeDisk();
  void DescribeLock(const procedure::LockInfo& info);
  void JudgeFinished();
  bool WorldMove();
  void Drain();
  bool AnyUndoing();
  [[nodiscard]] std::string Fingerprint(procedure::Executor& executor);

  const SimOptions options_;
  Prng prng_;
  procedure::ProcedureRegistry registry_;
  testing::Journal journal_;
  ManualTime time_;
  SimDisk disk_;
  Checkers checkers_;
  SimSummary summary_;
  std::vector<Tree> trees_;
  std::uint64_t names_ = 0;
  bool draining_ = false;
  std::unique_ptr<Life> life_;
};

}  // namespace ratchet::sim
