#include "chaos/faults/clock_faults.h"

#include <time.h>

#include <utility>

#include <fmt/core.h>

#include "chaos/faults/shim_victims.h"
#include "chaos/faults/victims.h"
#include "chaos/shim/process_shims.h"
#include "common/base/exit_codes.h"

namespace ratchet::chaos {
namespace {

constexpr Millis kClockShowsWithin{8'000};
constexpr Millis kStartWithin{30'000};
constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kRefusedFrom = 30;  // seconds; the limit is --max-clock-skew-ms
constexpr std::int64_t kHour = 3'600;

// Returns seconds, ahead or behind: half of the values are small, half are beyond the limit for a registration.
std::int64_t DrawJump(Prng& prng) {
  const std::int64_t size =
      prng.Chance(1, 2) ? prng.Between(1, kRefusedFrom - 5) : prng.Between(2 * kRefusedFrom, kHour);
  return prng.Chance(1, 2) ? size : -size;
}

// Returns parts per million. With half of the values some seconds pass within a minute; with the others the clock
// exceeds all limits within a few seconds, or runs backwards.
std::int64_t DrawDrift(Prng& prng) {
  if (prng.Chance(1, 2)) return prng.Between(-500'000, 1'000'000);
  const std::int64_t size = prng.Between(10'000'000, 60'000'000);
  return prng.Chance(1, 2) ? size : -size;
}

class ClockFault final : public Fault {
 public:
  explicit ClockFault(bool drift) : drift_(drift) {}

  [[nodiscard]] std::string_view kind() const override { return drift_ ? "clock-drift" : "clock-jump"; }
  [[nodiscard]] std::string_view Needs() const override { return kNeedsShims; }
  [[nodiscard]] std::optional<std::string> Unavailable(Target& target) override { return WhyNoShims(target); }

  [[nodiscard]] Result<FaultRecord> Inject(Target& target, Prng& prng) override {
    RATCHET_ASSIGN(auto victims, PickAnyProcess(target, prng));
    const auto active = target.ActiveMaster();
    const bool is_active = active.ok() && *active == victims.front();
    // A drift begins while a process runs. The kill of the active master belongs to another fault.
    const bool before_start = !drift_ && !is_active && prng.Chance(1, 2);
    victim_ = victims.front();
    RATCHET_ASSIGN(ShimControl* const control, target.shims()->Of(victim_));
    FaultRecord record;
    record.kind = kind();
    record.victims = std::move(victims);
    record.injected = SystemClock().Now();
    const Status broken =
        before_start ? StartWrong(target, *control, prng, record) : BreakRunning(target, *control, prng, record);
    if (broken.ok()) return record;
    IgnoreResult(Heal(target), "the first error is returned");
    return broken.error().Annotate(kind());
  }

  [[nodiscard]] std::optional<Millis> Duration(Prng& prng) override { return Millis(prng.Between(500, 8'000)); }

  // Also restarts, with the right clock, a server that was refused because of its clock and has ended.
  [[nodiscard]] Status Heal(Target& target) override {
    const std::string name = std::exchange(victim_, "");
    return name.empty() ? Ok() : HealShims(target, {name});
  }

 private:
  Status BreakRunning(Target& target, ShimControl& control, Prng& prng, FaultRecord& record) {
    const std::uint64_t before = control.clock_reads_changed;
    if (drift_) {
      timespec now{};
      clock_gettime(CLOCK_MONOTONIC, &now);
      control.drift_since_ns = now.tv_sec * kSecondNs + now.tv_nsec;
      control.drift_ppm = DrawDrift(prng);
      record.evidence = fmt::format("{}: its clock gains {} ms a second", victim_, control.drift_ppm.load() / 1'000);
    } else {
      const std::int64_t jump = DrawJump(prng);
      control.clock_offset_ns = jump * kSecondNs;
      record.evidence = fmt::format("{}: its clock has jumped by {} s", victim_, jump);
    }
    RATCHET_TRY(AwaitEffect(target, control, before));
    record.evidence += fmt::format(", felt {} times", control.clock_reads_changed - before);
    return Ok();
  }

  // A region server beyond the limit must not register; one within the limit, and any master, must serve.
  Status StartWrong(Target& target, ShimControl& control, Prng& prng, FaultRecord& record) {
    const std::int64_t jump = DrawJump(prng);
    const bool server = target.processes()->Info(victim_).role == Role::kRegionServer;
    const bool refused = server && (jump > kRefusedFrom || jump < -kRefusedFrom);
    RATCHET_TRY(target.Kill(victim_));
    const std::uint64_t before = control.clock_reads_changed;
    control.clock_offset_ns = jump * kSecondNs;
    RATCHET_TRY(target.Start(victim_));
    RATCHET_TRY(AwaitEffect(target, control, before));
    record.evidence = fmt::format("{}: started with a clock that is off by {} s", victim_, jump);
    if (!refused) return Ok();
    RATCHET_TRY(WaitUntil(victim_ + " is refused", kStartWithin, [&] {
      target.Meanwhile();
      return !target.Running(victim_);
    }));
    const int code = target.processes()->Info(victim_).exit_code.value_or(-1);
    if (code != exit_code::kClockOff) {
      return Error(Code::kInternal, fmt::format("{} with a clock off by {} s ended with exit code {}, not {}", victim_,
                                                jump, code, exit_code::kClockOff));
    }
    record.evidence += fmt::format(", refused, exit code {}", code);
    return Ok();
  }

  Status AwaitEffect(Target& target, const ShimControl& control, std::uint64_t before) const {
    return WaitUntil(victim_ + " feels it", kClockShowsWithin, [&] {
      target.Meanwhile();
      return control.clock_reads_changed > before;
    });
  }

  const bool drift_;
  std::string victim_;
};

}  // namespace

std::unique_ptr<Fault> MakeClockJump() { return std::make_unique<ClockFault>(false); }
std::unique_ptr<Fault> MakeClockDrift() { return std::make_unique<ClockFault>(true); }

}  // namespace ratchet::chaos
