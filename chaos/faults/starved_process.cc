#include "chaos/faults/starved_process.h"

#include <signal.h>

#include <atomic>
#include <thread>
#include <utility>

#include <fmt/core.h>

#include "chaos/cluster/child_process.h"
#include "chaos/faults/victims.h"
#include "common/base/thread_name.h"

namespace ratchet::chaos {
namespace {

constexpr std::int64_t kStoppedPerCent = 95;
constexpr std::uint64_t kCyclesSeen = 3;  // before the fault counts as injected
constexpr Millis kFeltWithin{20'000};

// Stops and continues one process until its destruction, which leaves it running.
class DutyCycle {
 public:
  DutyCycle(const ProcessId& id, std::uint64_t seed) : id_(id), prng_(seed), thread_([this] { Work(); }) {}
  ~DutyCycle() {
    ending_ = true;
    thread_.join();
  }
  DutyCycle(const DutyCycle&) = delete;
  DutyCycle& operator=(const DutyCycle&) = delete;

  // Periods in which the process was seen stopped.
  [[nodiscard]] std::uint64_t stopped() const { return stopped_; }

 private:
  void Work() {
    SetThreadName("duty-cycle");
    while (!ending_) {
      const Millis period{prng_.Between(40, 200)};
      const Millis stop = period * kStoppedPerCent / 100;
      if (!Signal(id_, SIGSTOP).ok()) return;  // it has ended
      std::this_thread::sleep_for(stop);
      if (KernelState(id_) == 'T') ++stopped_;
      if (!Signal(id_, SIGCONT).ok()) return;
      std::this_thread::sleep_for(period - stop);
    }
  }

  const ProcessId id_;
  Prng prng_;
  std::atomic<bool> ending_{false};
  std::atomic<std::uint64_t> stopped_{0};
  std::thread thread_;
};

class StarvedProcess final : public Fault {
 public:
  [[nodiscard]] std::string_view kind() const override { return "starved-process"; }
  [[nodiscard]] std::string_view Needs() const override { return "processes of this machine"; }
  [[nodiscard]] std::optional<std::string> Unavailable(Target& target) override {
    if (target.processes() == nullptr) return "this target's processes cannot be stopped and continued quickly";
    return std::nullopt;
  }

  [[nodiscard]] Result<FaultRecord> Inject(Target& target, Prng& prng) override {
    RATCHET_ASSIGN(const auto victims, PickAnyProcess(target, prng));
    const std::string& victim = victims.front();
    const ProcessInfo info = target.processes()->Info(victim);
    const std::uint64_t seed = prng.Next();
    FaultRecord record;
    record.kind = kind();
    record.victims = victims;
    record.injected = SystemClock().Now();
    victim_ = victim;
    cycle_ = std::make_unique<DutyCycle>(info.id, seed);
    Status felt = WaitUntil(victim + " is starved", kFeltWithin, [&] {
      target.Meanwhile();
      return cycle_->stopped() >= kCyclesSeen;
    });
    if (!felt.ok()) {
      IgnoreResult(Heal(target), "the first error is returned");
      return felt.error().Annotate(kind());
    }
    record.evidence = fmt::format("{} (pid {}) is stopped for {} % of each 40 to 200 ms, seed {}; seen {} times",
                                  victim, info.id.pid, kStoppedPerCent, seed, cycle_->stopped());
    return record;
  }

  [[nodiscard]] std::optional<Millis> Duration(Prng& prng) override { return Millis(prng.Between(1'000, 8'000)); }

  [[nodiscard]] Status Heal(Target& target) override {
    cycle_.reset();
    const std::string name = std::exchange(victim_, "");
    return name.empty() || target.Running(name) ? Ok() : target.Start(name);
  }

 private:
  std::string victim_;
  std::unique_ptr<DutyCycle> cycle_;
};

}  // namespace

std::unique_ptr<Fault> MakeStarvedProcess() { return std::make_unique<StarvedProcess>(); }

}  // namespace ratchet::chaos
