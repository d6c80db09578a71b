#include "chaos/disk/loop_disk.h"
#include "chaos/faults/machine_faults.h"
#include "chaos/faults/victims.h"

namespace ratchet::chaos {
namespace {

constexpr Role kServers[] = {Role::kMaster, Role::kRegionServer};

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
    for (const Role role : kServers) {
      for (const auto& name : target.Names(role)) {
        if (!target.Running(name)) RATCHET_TRY(target.Start(name));
      }
    }
    return Ok();
  }
};

class FullDisk final : public DiskFault {
 public:
  [[nodiscard]] std::string_view kind() const override { return "full-disk"; }

  [[nodiscard]] Result<FaultRecord> Inject(Target& target, Prng& /*prng*/) override {
    FaultRecord record;
    record.kind = kind();
    record.victims = {"disk"};
    record.injected = SystemClock().Now();
    const Status full = target.disk()->Fill();
    if (!full.ok()) {
      IgnoreResult(target.disk()->Free(), "the first error says more");
      return full.error().Annotate(kind());
    }
    full_ = true;
    record.evidence = "the kernel said ENOSPC to a write of one byte";
    return record;
  }

  [[nodiscard]] std::optional<Millis> Duration(Prng& prng) override { return Millis(prng.Between(500, 5'000)); }

  [[nodiscard]] Status Heal(Target& target) override {
    if (!std::exchange(full_, false)) return Ok();
    RATCHET_TRY(target.disk()->Free());
    return StartGone(target);
  }

 private:
  bool full_ = false;
};

// Small writes pass and large ones do not; the recovery from a death has to do with what is left.
class NearlyFullDisk final : public DiskFault {
 public:
  [[nodiscard]] std::string_view kind() const override { return "disk-nearly-full"; }

  [[nodiscard]] Result<FaultRecord> Inject(Target& target, Prng& prng) override {
    FaultRecord record;
    record.kind = kind();
    record.victims = {"disk"};
    record.injected = SystemClock().Now();
    full_ = true;
    const auto leave = static_cast<std::uint64_t>(prng.Between(64, 8'192)) << 10U;
    const auto fill = [&]() -> Status {
      RATCHET_TRY(target.disk()->Fill(leave));
      RATCHET_ASSIGN(const std::uint64_t left, target.disk()->Left());
      record.evidence = fmt::format("the kernel says that {} KiB are left", left >> 10U);
      RATCHET_ASSIGN(const Victims dead, PickAnyProcess(target, prng));
      const auto active = target.ActiveMaster();
      record.kills_master = active.ok() && *active == dead.front();
      RATCHET_TRY(target.Kill(dead.front()));
      record.victims.push_back(dead.front());
      record.evidence += fmt::format("; {} is gone", dead.front());
      return Ok();
    };
    const Status filled = fill();
    if (!filled.ok()) {
      IgnoreResult(Heal(target), "the first error says more");
      return filled.error().Annotate(kind());
    }
    // It may come up or not, as the space allows; the others take over either way.
    IgnoreResult(StartGone(target), "started again when there is space");
    return record;
  }

  [[nodiscard]] std::optional<Millis> Duration(Prng& prng) override { return Millis(prng.Between(3'000, 20'000)); }

  [[nodiscard]] Status Heal(Target& target) override {
    if (!std::exchange(full_, false)) return Ok();
    RATCHET_TRY(target.disk()->Free());
    return StartGone(target);
  }

 private:
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
    // Nobody answers a client without power. Processes that went on would: ext4 claims success for some syncs that its
    // shutdown overtakes.
    RATCHET_TRY(StopAll(target));
    RATCHET_TRY(target.disk()->FailPower());
    for (const Role role : kServers) {
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
    for (const Role role : kServers) {
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

std::unique_ptr<Fault> MakeFullDisk() { return std::make_unique<FullDisk>(); }
std::unique_ptr<Fault> MakeNearlyFullDisk() { return std::make_unique<NearlyFullDisk>(); }
std::unique_ptr<Fault> MakePowerFailure() { return std::make_unique<PowerFailure>(); }

}  // namespace ratchet::chaos
