#include "tests/support/crash_sweep.h"

#include <fmt/format.h>

namespace ratchet::testing {
namespace {

using procedure::Executor;
using procedure::ProcedureResult;

// Decides how each master of one run dies.
using PlanOf = std::function<CrashPlan(std::size_t life)>;

struct RunEnd {
  std::string text;  // fingerprint and outcome
  std::uint64_t crashes = 0;
  std::uint64_t commits = 0;
  bool settled = false;
};

constexpr procedure::Nonce kNonce{7, 7};

std::string OutcomeText(const ProcedureResult& result) {
  if (result.status == ProcedureResult::Status::kSuccess) return "success: " + result.result;
  if (result.status == ProcedureResult::Status::kFailed) return "failed: " + result.error->ToString();
  return result.status == ProcedureResult::Status::kRunning ? "still running" : "not found";
}

// Runs one master until everything is at rest (true) or it is dead (false).
bool Live(const SweepSubject& subject, void* world, MasterLife& life) {
  constexpr int kMaxRounds = 100'000;
  for (int round = 0; round < kMaxRounds; ++round) {
    life.RunUntilIdle();
    if (life.dead()) return false;
    if (life.AllFinished()) return true;
    if (subject.drive && subject.drive(world, life)) continue;
    if (life.dead()) return false;
    if (!life.RunNextTimer()) return true;  // no work left, but not finished: the fingerprint shows that
  }
  return true;
}

RunEnd RunOnce(const SweepSubject& subject, const PlanOf& plan, std::size_t max_lives) {
  procedure::ProcedureRegistry registry;
  subject.register_types(registry);
  const std::shared_ptr<void> world = subject.make_world();
  StoredState disk;
  ManualTime time;
  RunEnd end;
  for (std::size_t number = 0; number < max_lives; ++number) {
    MasterLife life(disk, plan(number), registry, subject.env(world.get()), time);
    bool alive = life.Begin();
    Result<ProcId> pid = Error(Code::kUnavailable, "not asked");
    if (alive) {
      procedure::SubmitOptions options;
      options.nonce = kNonce;
      options.owner = "sweep";
      pid = life.executor().Submit(subject.make_root(world.get()), options);
      alive = !life.dead() && Live(subject, world.get(), life);
    }
    if (alive) {
      end.commits = disk.CommitCount();
      end.settled = life.AllFinished();
      end.text = subject.fingerprint(world.get()) + " | " +
                 (pid.ok() ? OutcomeText(life.executor().GetResult(*pid)) : pid.error().ToString());
      return end;
    }
    ++end.crashes;
    if (subject.on_crash) subject.on_crash(world.get());
  }
  end.text = fmt::format("not at rest after {} masters", max_lives);
  return end;
}

class Sweep {
 public:
  Sweep(const SweepSubject& subject, std::size_t max_lives) : subject_(subject), max_lives_(max_lives) {}

  SweepReport Run() {
    const RunEnd calm = RunOnce(
        subject_, [](std::size_t) { return CrashPlan{}; }, max_lives_);
    report_.undisturbed = calm.text;
    report_.commits = calm.commits;
    ++report_.runs;
    if (!calm.settled) report_.failures.push_back("without a crash: " + calm.text);
    for (std::uint64_t n = 1;; ++n) {
      const bool before = One(fmt::format("crash before commit {}", n), [n](std::size_t life) {
        return life == 0 ? CrashPlan{n, 0} : CrashPlan{};
      });
      const bool after = One(fmt::format("crash after commit {}", n), [n](std::size_t life) {
        return life == 0 ? CrashPlan{0, n} : CrashPlan{};
      });
      if (!before && !after) break;
      // The next masters die early too: while they recover, resume the work or continue the rollback.
      for (std::uint64_t m = 1; m <= 3; ++m) {
        One(fmt::format("crash after commit {}, then before commit {} of the next life", n, m),
            [n, m](std::size_t life) {
              return life == 0 ? CrashPlan{0, n} : life == 1 ? CrashPlan{m, 0} : CrashPlan{};
            });
        One(fmt::format("crash before commit {}, then after commit {} of the next life", n, m),
            [n, m](std::size_t life) {
              return life == 0 ? CrashPlan{n, 0} : life == 1 ? CrashPlan{0, m} : CrashPlan{};
            });
      }
    }
    // Every step twice and more: each master gets a commit or a few further than the one before it, and loses the next.
    One("every master loses a step", [](std::size_t life) { return CrashPlan{2 + life % 5, 0}; });
    One("every master dies after a step", [](std::size_t life) { return CrashPlan{0, 1 + life % 5}; });
    return std::move(report_);
  }

 private:
  // True when a crash took place.
  bool One(const std::string& name, const PlanOf& plan) {
    const RunEnd end = RunOnce(subject_, plan, max_lives_);
    ++report_.runs;
    report_.crashes += end.crashes;
    if (end.text != report_.undisturbed) {
      report_.failures.push_back(fmt::format("{}: '{}' instead of '{}'", name, end.text, report_.undisturbed));
    }
    return end.crashes > 0;
  }

  const SweepSubject& subject_;
  const std::size_t max_lives_;
  SweepReport report_;
};

}  // namespace

MasterLife::MasterLife(StoredState& disk, CrashPlan plan, const procedure::ProcedureRegistry& registry,
                       procedure::EnvRef env, ManualTime& time, Executor::Options options)
    : time_(time),
      store_(disk, plan),
      executor_(std::make_unique<Executor>(Executor::Deps{store_, registry, workers_, time, time, env},
                                           std::move(options))) {}

MasterLife::~MasterLife() { executor_->Stop(); }

bool MasterLife::Begin() {
  const Result<Epoch> epoch = executor_->Recover();
  if (!epoch.ok() || dead()) return false;
  executor_->Start();
  return !dead();
}

void MasterLife::RunUntilIdle() {
  while (!dead() && workers_.RunOne()) {
  }
}

bool MasterLife::AllFinished() const {
  for (const procedure::ProcedureInfo& info : executor_->List()) {
    if (!IsTerminal(info.state)) return false;
  }
  return true;
}

Executor::Options MasterLife::DefaultOptions() {
  Executor::Options options;
  options.evict_interval = Millis{0};
  options.stuck_check_interval = Millis{0};
  options.log_steps = false;
  return options;
}

SweepReport RunCrashSweep(const SweepSubject& subject, std::size_t max_lives) {
  return Sweep(subject, max_lives).Run();
}

}  // namespace ratchet::testing
