#include "tests/crash/master_sweep.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/fault_point.h"
#include "master/cluster/region_directory.h"
#include "tests/support/sanitized.h"

namespace ratchet::crash {

using testing::CrashPlan;
using PlanOf = std::function<CrashPlan(std::size_t life)>;

Swept& AllSwept() {
  static Swept swept;
  return swept;
}

std::optional<procedure::ProcedureInfo> Rig::At(const std::string& type, const std::string& step,
                                                const std::string& with) {
  if (!cluster.has_master() || cluster.master().dead()) return std::nullopt;
  for (const ProcId found : cluster.master().executor().FindUnfinished(type)) {
    auto info = cluster.master().executor().Get(found);
    if (info && info->step_name == step && info->description.text().find(with) != std::string::npos) return info;
  }
  return std::nullopt;
}

namespace {

// Records the steps of the last submitted commit: all those whose outcomes it has (S147: run on without acting).
class StepWatch {
 public:
  explicit StepWatch(Rig& rig) {
    FaultSpec spec;
    spec.action = FaultAction::kCall;
    spec.times = UINT64_MAX;
    spec.call = [this, &rig](std::string_view detail) {
      const std::uint64_t commits = rig.cluster.disk().CommitCount();
      if (std::exchange(commits_, commits) != commits) last_.clear();
      last_.emplace_back(detail);
    };
    FaultPoints::Instance().Arm("executor.before_commit", std::move(spec));
  }
  ~StepWatch() { FaultPoints::Instance().DisarmAll(); }
  StepWatch(const StepWatch&) = delete;
  StepWatch& operator=(const StepWatch&) = delete;
  void Died(const CrashPlan& plan) {
    ++AllSwept().deaths;
    (plan.before != 0 ? AllSwept().before : AllSwept().after).insert(last_.begin(), last_.end());
  }

 private:
  std::vector<std::string> last_;
  std::uint64_t commits_ = 0;
};

struct RunEnd {
  std::string text;
  std::uint64_t commits = 0;
  std::size_t deaths = 0;
};

constexpr std::size_t kMaxLives = 300;
constexpr procedure::Nonce kNonce{7, 7};

std::string Outcome(Rig& rig) {
  if (!rig.pid) return "nothing asked";
  if (!rig.pid->ok()) return "refused: " + rig.pid->error().ToString();
  const procedure::ProcedureResult result = rig.cluster.master().executor().GetResult(**rig.pid);
  if (result.error) return "failed: " + result.error->ToString();
  return result.finished() ? "success" : "unfinished";
}

// Runs under one master until all work has ended (returns true) or the master is dead (returns false).
bool Live(Rig& rig, const Scenario& scenario) {
  bool asked = !scenario.request;
  const bool rested = rig.cluster.RunUntil([&] {
    sim::SimMaster& master = rig.cluster.master();
    if (master.dead()) return true;
    if (!asked && master.ready()) {
      asked = true;
      scenario.request(rig, kNonce, [&rig](Result<ProcId> pid) { rig.pid = std::move(pid); });
    }
    if (scenario.poke) scenario.poke(rig);
    return !master.dead() && master.ready() && (!scenario.request || rig.pid) && master.AllFinished() &&
           (!scenario.complete || scenario.complete(rig));
  });
  if (!rested) rig.cluster.Violation("not at rest:\n" + rig.cluster.master().Unfinished());
  return !rig.cluster.master().dead();
}

RunEnd RunOnce(const Scenario& scenario, const PlanOf& plan) {
  ++AllSwept().runs;
  Rig rig;
  StepWatch watch(rig);
  if (scenario.prepare) scenario.prepare(rig);
  RunEnd end;
  const std::uint64_t before = rig.cluster.disk().CommitCount();
  for (std::size_t life = 0; life < kMaxLives; ++life) {
    rig.pid.reset();
    rig.cluster.StartMaster(plan(life));
    if (Live(rig, scenario)) {
      end.commits = rig.cluster.disk().CommitCount() - before;
      end.text = rig.cluster.Fingerprint() + " | " + Outcome(rig) + " | " + rig.cluster.CheckSettled();
      return end;
    }
    watch.Died(plan(life));
    ++end.deaths;
  }
  end.text = "never comes to rest: " + rig.cluster.master().Unfinished();
  return end;
}

}  // namespace

SweepResult SweepMaster(const Scenario& scenario) {
  ++AllSwept().scenarios;
  SweepResult result;
  const RunEnd calm = RunOnce(scenario, [](std::size_t) { return CrashPlan{}; });
  result.calm = calm.text;
  result.commits = calm.commits;
  const auto one = [&](const std::string& name, const PlanOf& plan) {
    const RunEnd end = RunOnce(scenario, plan);
    if (end.text != calm.text)
      result.failures.push_back(fmt::format("{}:\n  {}\ninstead of\n  {}", name, end.text, calm.text));
    return end.deaths > 0;
  };
  for (std::uint64_t n = 1;; ++n) {
    const bool before = one(fmt::format("before commit {}", n), [n](std::size_t life) {
      return life == 0 ? CrashPlan{n, 0} : CrashPlan{};
    });
    const bool after = one(fmt::format("after commit {}", n), [n](std::size_t life) {
      return life == 0 ? CrashPlan{0, n} : CrashPlan{};
    });
    if ((!before && !after) || result.failures.size() > 3) break;
    // The next master dies too, while it resumes the work or continues the undo.
    if (testing::kSanitized && n % 4 != 1) continue;
    const std::uint64_t m = 1 + n % 4;
    one(fmt::format("after commit {}, then before commit {} of the next life", n, m), [n, m](std::size_t life) {
      return life == 0 ? CrashPlan{0, n} : life == 1 ? CrashPlan{m, 0} : CrashPlan{};
    });
    one(fmt::format("before commit {}, then after commit {} of the next life", n, m), [n, m](std::size_t life) {
      return life == 0 ? CrashPlan{n, 0} : life == 1 ? CrashPlan{0, m} : CrashPlan{};
    });
  }
  const std::uint64_t breath = scenario.breath;
  one("every master loses a step", [breath](std::size_t life) { return CrashPlan{2 + breath + life % 5, 0}; });
  one("every master dies after a step", [breath](std::size_t life) { return CrashPlan{0, 1 + breath + life % 5}; });
  return result;
}

}  // namespace ratchet::crash
