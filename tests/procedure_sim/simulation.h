// One seeded run of executor, scheduler, locks and store double, with crashes anywhere, judged by checkers from
// outside.
//
// One thread does everything: a move is a step of a procedure, the completion of a commit, a timer, an external event,
// a client's or an operator's request, or a power failure. A seed repeats the whole run.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "common/base/prng.h"
#include "procedure/api/executor.h"
#include "tests/procedure_sim/checkers.h"
#include "tests/procedure_sim/hold_checker.h"
#include "tests/procedure_sim/script_generator.h"
#include "tests/procedure_sim/store_double.h"
#include "tests/procedure_sim/turns_checker.h"
#include "tests/support/manual_time.h"

namespace ratchet::sim {

struct SimSummary {
  std::uint64_t moves = 0;
  std::uint64_t submitted = 0;
  std::uint64_t succeeded = 0;
  std::uint64_t undone = 0;
  std::array<std::uint64_t, kCrashPhaseNames.size()> crashes{};
  // Coverage of the run: a run that covered nothing proves nothing.
  std::uint64_t comparisons = 0;  // comparisons of memory with reloaded state
  std::uint64_t quiet_checks = 0;
  std::uint64_t time_outs = 0;
  std::uint64_t lock_waits = 0;
  std::uint64_t undo_steps = 0;
  std::uint64_t reports = 0;  // acknowledged
  std::uint64_t wakes = 0;
  std::uint64_t verbs = 0;  // commands of operators; of these:
  std::uint64_t pauses = 0;
  std::uint64_t user_locks = 0;
  std::uint64_t starts_paused = 0;
  std::uint64_t reruns = 0;
  std::uint64_t bypasses = 0;
  std::uint64_t damages = 0;  // damaged files of the store, in a copy that another master loads; of these:
  std::uint64_t damages_refused = 0;
  std::uint64_t turns = 0;              // checked periods in which runnable queues took turns
  std::vector<std::string> violations;  // empty: no violation

  [[nodiscard]] std::uint64_t AllCrashes() const;
  void Add(const SimSummary& other);
};

struct SimOptions {
  std::uint64_t seed = 1;
  std::uint64_t steps = 3'000;     // moves before the drain
  std::uint64_t crash_one_in = 0;  // average moves between crashes; 0: by the seed
  std::size_t max_live = 0;        // concurrent trees; 0: by the seed
  bool trace = false;              // the framework's log lines, on standard error
  bool wal = false;                // the real store on a simulated disk; else records in memory
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
    RandomScript random;
    std::uint64_t nonce = 0;
    ProcId pid;  // invalid until answered
    bool aborted = false;
    bool bypassed = false;
  };

  void Observe(char sign, const std::string& effect, const procedure::Procedure& by);
  void NewLife();
  bool Load();
  void CheckAcknowledged();
  void Move();
  void Crash();
  // Clients.
  void StartTree();
  void SubmitTree(const Tree& tree);
  void JudgeFinished();
  void JudgeEnd(Tree& tree, const procedure::ProcedureResult& result);
  // The world and operators.
  bool WorldMove();
  bool Report();
  // operators.cc
  void OperatorMove();
  [[nodiscard]] procedure::PauseScope RandomScope(ProcId pid);
  [[nodiscard]] bool IsUrgent(ProcId pid) const;
  void PauseSomething(ProcId pid);
  void ResumeSomething();
  void StartsPaused(bool paused);
  void LockMove();
  [[nodiscard]] std::string WhoseLock(const procedure::Procedure& by) const;
  void Rerun(Tree& tree, ProcId pid);
  void Bypass(Tree& tree, ProcId pid);
  void Park(const Tree& tree, ProcId pid);
  void LetEverythingGo();
  void TurnsCheck();
  // Runs everything without faults: all procedures must end.
  void Drain();
  // quiet_check.cc: when no procedure runs and no commit is in flight, each waiter must have an obstacle.
  void RunUntilQuiet();
  void QuietCheck();
  [[nodiscard]] std::string WhyLost(const procedure::ProcedureInfo& info) const;
  // Checks that memory equals the result of a load.
  void CompareWithReload();
  // Checks that a damaged file is refused or its losses are reported, and that the rest equals memory.
  void DamageCheck();

  [[nodiscard]] Tree* RandomLiveTree();
  [[nodiscard]] bool Failed() const { return !checkers_.violations().empty(); }

  const SimOptions options_;
  Prng prng_;
  std::uint64_t crash_one_in_ = 0;
  std::size_t max_live_ = 0;
  procedure::ProcedureRegistry registry_;
  testing::Journal journal_;
  std::unique_ptr<Medium> medium_;
  Checkers checkers_;
  HoldChecker holds_;
  std::optional<TurnsChecker> turns_;  // set while turns are checked
  SimSummary summary_;
  std::vector<Tree> trees_;
  std::vector<ProcId> acked_;            // results that clients fetched, and that may still exist
  std::unordered_set<ProcId> asking_;    // procedures that looked for a report that had not arrived
  std::unordered_set<ProcId> reported_;  // procedures with an acknowledged report, which is never sent again
  std::vector<ProcId> reported_in_this_life_;
  std::uint64_t names_ = 0;
  bool draining_ = false;
  bool started_paused_ = false;  // this master started paused, and may die before this is recorded
  std::unique_ptr<Life> life_;
};

}  // namespace ratchet::sim
