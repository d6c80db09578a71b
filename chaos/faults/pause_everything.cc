#include "chaos/faults/pause_everything.h"

#include <utility>

#include "chaos/cluster/transition_watch.h"
#include "chaos/faults/victims.h"

namespace ratchet::chaos {
namespace {

constexpr Role kEverybody[] = {Role::kRegionServer, Role::kMaster, Role::kZooKeeper};
constexpr Millis kServedWithin{90'000};

class PauseEverything final : public Fault {
 public:
  [[nodiscard]] std::string_view kind() const override { return "pause-everything"; }
  [[nodiscard]] std::optional<std::string> Unavailable(Target& /*target*/) override { return std::nullopt; }

  [[nodiscard]] Result<FaultRecord> Inject(Target& target, Prng& prng) override {
    session_ = target.session_timeout();
    resume_order_ = prng.Next();
    Victims all;
    for (const Role role : kEverybody) {
      for (auto& name : RunningOnes(target, role)) all.push_back(std::move(name));
    }
    if (all.empty()) return Error(Code::kUnavailable, "no process runs");
    const std::size_t count = all.size();
    FaultRecord record;
    record.kind = kind();
    record.victims = RandomSubset(std::move(all), count, prng);
    record.injected = SystemClock().Now();
    for (const auto& name : record.victims) {
      const Status stopped = target.Pause(name);
      if (!stopped.ok()) {
        for (const auto& one : std::exchange(stopped_, {}))
          IgnoreResult(target.Resume(one), "the first error is returned");
        return stopped.error().Annotate(name);
      }
      stopped_.push_back(name);
    }
    record.evidence = fmt::format("all {} processes are stopped", count);
    return record;
  }

  [[nodiscard]] std::optional<Millis> Duration(Prng& prng) override {
    return Millis(prng.Between(2 * session_.count(), 10 * session_.count()));
  }

  // Starts no process, and waits for the cluster to serve: a process that has ended permanently is the finding.
  [[nodiscard]] Status Heal(Target& target) override {
    const Victims all = std::exchange(stopped_, {});
    Prng order(resume_order_);
    Status first = Ok();
    for (const auto& name : RandomSubset(all, all.size(), order)) {
      Status resumed = target.Resume(name);
      if (!resumed.ok() && first.ok()) first = resumed;
    }
    if (!first.ok() || all.empty() || target.processes() == nullptr) return first;
    const auto ended = [&]() -> std::string {
      for (const auto& name : all) {
        if (!target.Running(name)) return name;
      }
      return "";
    };
    Status last = Ok();
    TransitionWatch watch;  // loads begin transitions all the time
    const Status served = WaitUntil("served again without help", kServedWithin, [&] {
      last = target.CheckRecoveredUnderLoad(watch);
      return last.ok() || !ended().empty();
    });
    if (const std::string name = ended(); !name.empty()) {
      return Error(Code::kInternal,
                   fmt::format("{} ended permanently, with exit code {}, after all processes were paused and resumed",
                               name, target.processes()->Info(name).exit_code.value_or(-1)));
    }
    return served.ok() ? Ok() : Status(served.error().Annotate(last.error().message()));
  }

 private:
  Millis session_{2'000};
  Victims stopped_;
  std::uint64_t resume_order_ = 0;
};

}  // namespace

std::unique_ptr<Fault> MakePauseEverything() { return std::make_unique<PauseEverything>(); }

}  // namespace ratchet::chaos
