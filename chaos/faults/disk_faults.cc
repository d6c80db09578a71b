#include "chaos/disk/loop_disk.h"
#include "chaos/faults/machine_faults.h"
#include "chaos/faults/victims.h"

namespace ratchet::chaos {
namespace {

class DiskFault : public Fault {
 public:
  [[nodiscard]] std::string_view Needs() const override {
    return "a cluster of its own, root and a loop device (--disk-bytes)";
  }
  [[nodiscard]] std::optional<std::string> Unavailable(Target& target) override {
    if (target.disk() == nullptr) return target.WhyNoDisk();
    return std::nullopt;
  }

 protected:
  static Status StartGone(Target& target) {
    for (const Role role : kMembers) {
      for (const auto& name : target.Names(role)) {
        if (!target.Running(name)) RATCHET_TRY(target.Start(name));
      }
    }
    return Ok();
  }
};

// Parameters of a full disk: the space that is left, and whether a process dies then.
struct Fullness {
  std::string_view kind;
  std::int64_t least_kib;
  std::int64_t most_kib;
  bool with_a_death;
  std::int64_t shortest_ms;
  std::int64_t longest_ms;
};

constexpr Fullness kFull{"full-disk", 0, 0, false, 500, 5'000};
// Small writes succeed and large ones do not; the recovery from a death must use the space that is left.
constexpr Fullness kNearlyFull{"disk-nearly-full", 64, 8'192, true, 3'000, 20'000};

class FullDisk final : public DiskFault {
 public:
  explicit FullDisk(const Fullness& what) : what_(what) {}

  [[nodiscard]] std::string_view kind() const override { return what_.kind; }

  [[nodiscard]] Result<FaultRecord> Inject(Target& target, Prng& prng) override {
    FaultRecord record;
    record.kind = kind();
    record.victims = {"disk"};
    record.injected = SystemClock().Now();
    full_ = true;
    const Status filled = Break(target, prng, record);
    if (filled.ok()) return record;
    IgnoreResult(Heal(target), "the first error is returned");
    return filled.error().Annotate(kind());
  }

  [[nodiscard]] std::optional<Millis> Duration(Prng& prng) override {
    return Millis(prng.Between(what_.shortest_ms, what_.longest_ms));
  }

  [[nodiscard]] Status Heal(Target& target) override {
    if (!std::exchange(full_, false)) return Ok();
    RATCHET_TRY(target.disk()->Free());
    return StartGone(target);
  }

 private:
  Status Break(Target& target, Prng& prng, FaultRecord& record) {
    const auto leave = static_cast<std::uint64_t>(prng.Between(what_.least_kib, what_.most_kib)) << 10U;
    RATCHET_TRY(target.disk()->Fill(leave));
    RATCHET_ASSIGN(const std::uint64_t left, target.disk()->Left());
    record.evidence = fmt::format("a write of one byte failed with ENOSPC; {} KiB were left then", left >> 10U);
    if (!what_.with_a_death) return Ok();
    RATCHET_ASSIGN(const Victims dead, PickAnyProcess(target, prng));
    const auto active = target.ActiveMaster();
    record.kills_master = active.ok() && *active == dead.front();
    RATCHET_TRY(target.Kill(dead.front()));
    record.victims.push_back(dead.front());
    record.evidence += fmt::format("; {} is gone", dead.front());
    // The process may start or not, depending on the space; the others take over in either case.
    IgnoreResult(StartGone(target), "restarted when there is space");
    return Ok();
  }

  const Fullness& what_;
  bool full_ = false;
};

class PowerFailure final : public DiskFault {
 public:
  [[nodiscard]] std::string_view kind() const override { return "power-failure"; }

  [[nodiscard]] Result<FaultRecord> Inject(Target& target, Prng& prng) override {
    FaultRecord record;
    record.kind = kind();
    record.injected = SystemClock().Now();
    record.kills_master = target.ActiveMaster().ok();
    broken_ = true;
    // All processes stop first, because none can answer clients without power. Running ones would: ext4 reports success
    // for some syncs that its shutdown overtakes.
    RATCHET_TRY(StopAll(target));
    RATCHET_TRY(target.disk()->FailPower());
    for (const Role role : kMembers) {
      const Victims running = RunningOnes(target, role);
      for (const auto& name : RandomSubset(running, running.size(), prng)) {
        record.victims.push_back(name);
        const Status killed = target.Kill(name);
        if (!killed.ok() && target.Running(name)) return killed.error().Annotate(kind());
      }
    }
    record.evidence = fmt::format("the file system was shut down without its journal and refused a file; {} ended",
                                  record.victims.size());
    return record;
  }

  [[nodiscard]] std::optional<Millis> Duration(Prng& prng) override { return Millis(prng.Between(0, 1'000)); }

  [[nodiscard]] Status Heal(Target& target) override {
    if (!std::exchange(broken_, false)) return Ok();
    RATCHET_TRY(target.disk()->MountAgain());
    return StartGone(target);
  }

 private:
  static Status StopAll(Target& target) {
    for (const Role role : kMembers) {
      for (const auto& name : RunningOnes(target, role)) {
        const Status stopped = target.Pause(name);
        if (!stopped.ok() && target.Running(name)) return stopped.error().Annotate("power-failure");
      }
    }
    return Ok();
  }

  bool broken_ = false;
};

}  // namespace

std::unique_ptr<Fault> MakeFullDisk() { return std::make_unique<FullDisk>(kFull); }
std::unique_ptr<Fault> MakeNearlyFullDisk() { return std::make_unique<FullDisk>(kNearlyFull); }
std::unique_ptr<Fault> MakePowerFailure() { return std::make_unique<PowerFailure>(); }

}  // namespace ratchet::chaos
