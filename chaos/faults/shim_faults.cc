#include <cerrno>
#include <thread>

#include "chaos/faults/machine_faults.h"
#include "chaos/faults/process_faults.h"
#include "chaos/faults/shim_victims.h"
#include "chaos/faults/victims.h"
#include "chaos/shim/process_shims.h"
#include "common/base/exit_codes.h"

namespace ratchet::chaos {
namespace {

constexpr Millis kEffectWithin{8'000};

// Gives the order and says it in words.
using Order = std::string (*)(ShimControl&, Prng&);

std::string SlowSync(ShimControl& control, Prng& prng) {
  control.sync_delay_ms = static_cast<std::int32_t>(prng.Between(20, 500));
  return fmt::format("each sync takes {} ms more", control.sync_delay_ms.load());
}
std::string StalledSync(ShimControl& control, Prng& /*prng*/) {
  control.sync_delay_ms = 60'000;
  return "syncs stall";
}
std::string FailingSync(ShimControl& control, Prng& prng) {
  constexpr std::int32_t kErrors[] = {EIO, ENOSPC, EDQUOT};
  control.sync_errno = kErrors[prng.Below(3)];
  return fmt::format("each sync fails with errno {}", control.sync_errno.load());
}
std::int32_t OneIn(ShimControl& control, Prng& prng) {
  control.one_in = static_cast<std::int32_t>(prng.Between(1, 20));
  return control.one_in;
}
std::string ReadError(ShimControl& control, Prng& prng) {
  constexpr std::int32_t kErrors[] = {EIO, ENOMEM, EMFILE};
  const std::int32_t one_in = OneIn(control, prng);
  control.read_errno = kErrors[prng.Below(3)];
  return fmt::format("one read or opening of a file in {} fails with errno {}", one_in, control.read_errno.load());
}
std::string ListError(ShimControl& control, Prng& prng) {
  constexpr std::int32_t kErrors[] = {EIO, ENOMEM, EMFILE, ENFILE};
  const std::int32_t one_in = OneIn(control, prng);
  control.list_errno = kErrors[prng.Below(4)];
  return fmt::format("one listing or look-up of a name in {} fails with errno {}", one_in, control.list_errno.load());
}
// Which processes can feel it: those that look for names while they serve (a standby does not), those that sync, those
// that read files.
enum class Feels : std::uint8_t { kLooking, kSyncing, kReading };

struct ShimFaultKind {
  std::string_view kind;
  Order order;
  std::atomic<std::uint64_t> ShimControl::*effect;  // grows when the process felt it
  Feels feels;
  bool ends_process;
  Lasting lasting;
};

constexpr ShimFaultKind kKinds[] = {
    {"slow-sync", SlowSync, &ShimControl::syncs_delayed, Feels::kSyncing, false, {500, 5'000, false}},
    {"stalled-sync", StalledSync, &ShimControl::syncs_delayed, Feels::kSyncing, false, {1'000, 8'000, false}},
    {"failing-sync", FailingSync, &ShimControl::syncs_failed, Feels::kSyncing, true, {200, 3'000, false}},
    {"read-error", ReadError, &ShimControl::reads_failed, Feels::kReading, false, {500, 5'000, false}},
    {"list-error", ListError, &ShimControl::lists_failed, Feels::kLooking, false, {500, 5'000, false}},
};

class ShimFault final : public Fault {
 public:
  explicit ShimFault(const ShimFaultKind& what) : what_(what) {}

  [[nodiscard]] std::string_view kind() const override { return what_.kind; }

  [[nodiscard]] std::string_view Needs() const override { return kNeedsShims; }
  [[nodiscard]] std::optional<std::string> Unavailable(Target& target) override { return WhyNoShims(target); }

  [[nodiscard]] Result<FaultRecord> Inject(Target& target, Prng& prng) override {
    RATCHET_ASSIGN(victim_, Pick(target, prng));
    RATCHET_ASSIGN(ShimControl* const control, target.shims()->Of(victim_));
    FaultRecord record;
    record.kind = what_.kind;
    record.victims = {victim_};
    const auto active = target.ActiveMaster();
    record.kills_master = what_.ends_process && active.ok() && *active == victim_;
    const std::uint64_t before = control->*what_.effect;
    record.injected = SystemClock().Now();
    record.evidence = victim_ + ": " + what_.order(*control, prng);
    const Status felt = AwaitEffect(target, *control, before, record.evidence);
    if (felt.ok()) return record;
    IgnoreResult(Heal(target), "the first error says more");
    return felt.error().Annotate(what_.kind);
  }

  [[nodiscard]] std::optional<Millis> Duration(Prng& prng) override {
    return Millis(prng.Between(what_.lasting.least, what_.lasting.most));
  }

  [[nodiscard]] Status Heal(Target& target) override {
    const std::string name = std::exchange(victim_, "");
    return name.empty() ? Ok() : HealShims(target, {name});
  }

 private:
  // One that can feel it; for syncs, one of those that have synced something just now.
  Result<std::string> Pick(Target& target, Prng& prng) const {
    Victims all = what_.feels == Feels::kSyncing ? RunningServers(target) : RunningOnes(target, Role::kRegionServer);
    if (const auto active = target.ActiveMaster(); what_.feels == Feels::kLooking && active.ok())
      all.push_back(*active);
    if (what_.feels == Feels::kSyncing) {
      std::map<std::string, std::uint64_t> before;
      for (const auto& name : all) {
        RATCHET_ASSIGN(const ShimControl* const control, target.shims()->Of(name));
        before[name] = control->syncs;
      }
      Victims syncing;
      RATCHET_TRY(WaitUntil("a process that syncs", kEffectWithin, [&] {
        std::this_thread::sleep_for(Millis(100));  // so that more than the busiest has a chance
        for (const auto& name : all) {
          const auto control = target.shims()->Of(name);
          if (control.ok() && (*control)->syncs != before[name]) syncing.push_back(name);
        }
        return !syncing.empty();
      }));
      all = syncing;
    }
    if (all.empty()) return Error(Code::kUnavailable, "no process runs");
    return all[prng.Below(all.size())];
  }

  Status AwaitEffect(Target& target, const ShimControl& control, std::uint64_t before, std::string& evidence) const {
    RATCHET_TRY(WaitUntil(victim_ + " feels it", kEffectWithin, [&] { return control.*what_.effect > before; }));
    evidence += fmt::format(", felt {} times", control.*what_.effect - before);
    if (!what_.ends_process) return Ok();
    // A failed sync ends the process (S6): one that goes on would acknowledge what is not durable.
    const auto ended = [&] { return !target.Running(victim_); };
    RATCHET_TRY(WaitUntil(victim_ + " ends after a failed sync", kEffectWithin, ended));
    const auto code = target.processes()->Info(victim_).exit_code;
    evidence += fmt::format(", ended with exit code {}", code.value_or(-1));
    return Ok();
  }

  const ShimFaultKind& what_;
  std::string victim_;
};

}  // namespace

std::unique_ptr<Fault> MakeShimFault(std::string_view kind) {
  for (const auto& candidate : kKinds) {
    if (candidate.kind == kind) return std::make_unique<ShimFault>(candidate);
  }
  return nullptr;
}

std::vector<std::string_view> ShimFaultKinds() {
  std::vector<std::string_view> kinds;
  for (const auto& candidate : kKinds) kinds.push_back(candidate.kind);
  return kinds;
}

}  // namespace ratchet::chaos
