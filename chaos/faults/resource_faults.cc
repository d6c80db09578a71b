#include "chaos/faults/resource_faults.h"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "chaos/faults/flood.h"
#include "chaos/faults/victims.h"

namespace ratchet::chaos {
namespace {

constexpr Millis kResourceShowsWithin{10'000};

// Lowers a limit of a running process, and restores it.
class LoweredLimit {
 public:
  explicit LoweredLimit(__rlimit_resource resource) : resource_(resource) {}

  Status Lower(int pid, rlim_t soft) {
    if (::prlimit(pid, resource_, nullptr, &before_) != 0) return Failed(pid);
    const rlimit lowered{soft, before_.rlim_max};
    if (::prlimit(pid, resource_, &lowered, nullptr) != 0) return Failed(pid);
    pid_ = pid;
    return Ok();
  }
  // A process that has ended needs no restore.
  void Restore() {
    const int pid = std::exchange(pid_, 0);
    if (pid != 0 && ::prlimit(pid, resource_, &before_, nullptr) != 0) errno = 0;
  }

 private:
  static Error Failed(int pid) { return {Code::kIo, fmt::format("prlimit of {}: {}", pid, std::strerror(errno))}; }

  const __rlimit_resource resource_;
  int pid_ = 0;
  rlimit before_{};
};

std::size_t OpenDescriptors(int pid) {
  std::error_code failed;
  std::size_t count = 0;
  for (std::filesystem::directory_iterator entry(fmt::format("/proc/{}/fd", pid), failed), end; !failed && entry != end;
       entry.increment(failed)) {
    ++count;
  }
  return count;
}

std::uint64_t AddressSpace(int pid) {
  std::ifstream status(fmt::format("/proc/{}/statm", pid));
  std::uint64_t pages = 0;
  status >> pages;
  return pages * 4096;
}

// A server of this machine, with its pid and its port.
class ResourceFault : public Fault {
 public:
  [[nodiscard]] std::string_view Needs() const override { return "processes of this machine"; }
  [[nodiscard]] std::optional<std::string> Unavailable(Target& target) override {
    if (target.processes() == nullptr) return "limits of processes can only be set on this machine";
    return std::nullopt;
  }

  [[nodiscard]] Result<FaultRecord> Inject(Target& target, Prng& prng) override {
    RATCHET_ASSIGN(const auto victims, PickAnyProcess(target, prng));
    victim_ = victims.front();
    FaultRecord record;
    record.kind = kind();
    record.victims = victims;
    const auto active = target.ActiveMaster();
    const bool master = active.ok() && *active == victim_;
    record.injected = SystemClock().Now();
    const ProcessInfo info = target.processes()->Info(victim_);
    const Status done = Break(target, info, prng, record);
    if (!done.ok()) {
      IgnoreResult(Heal(target), "the first error is returned");
      return done.error().Annotate(kind());
    }
    record.kills_master = master && !target.Running(victim_);
    if (!target.Running(victim_)) record.evidence += "; it ended";
    return record;
  }

  [[nodiscard]] std::optional<Millis> Duration(Prng& prng) override { return Millis(prng.Between(500, 5'000)); }

  [[nodiscard]] Status Heal(Target& target) override {
    const std::string name = std::exchange(victim_, "");
    Repair();
    return name.empty() || target.Running(name) ? Ok() : target.Start(name);
  }

 protected:
  virtual Status Break(Target& target, const ProcessInfo& info, Prng& prng, FaultRecord& record) = 0;
  virtual void Repair() = 0;
  [[nodiscard]] const std::string& victim() const { return victim_; }

 private:
  std::string victim_;
};

class FewDescriptors final : public ResourceFault {
 public:
  [[nodiscard]] std::string_view kind() const override { return "few-descriptors"; }

 protected:
  Status Break(Target& target, const ProcessInfo& info, Prng& prng, FaultRecord& record) override {
    const std::size_t before = OpenDescriptors(info.id.pid);
    const std::size_t limit = before + static_cast<std::size_t>(prng.Between(2, 12));
    RATCHET_TRY(limit_.Lower(info.id.pid, limit));
    const std::size_t opened = flood_.Open(target.OwnPort(victim()), limit - before + 8, prng);
    // Effective when all descriptors are used, or the process closed connections to keep some, or it ended.
    std::size_t most = before;
    RATCHET_TRY(WaitUntil(victim() + " runs out of descriptors", kResourceShowsWithin, [&] {
      target.Meanwhile();
      most = std::max(most, OpenDescriptors(info.id.pid));
      return !target.Running(victim()) || most + 1 >= limit || flood_.Refused() > 0;
    }));
    record.evidence =
        fmt::format("{}: limit of descriptors {} ({} were open); {} open at most, {} of {} connections closed by it",
                    victim(), limit, before, most, flood_.Refused(), opened);
    return Ok();
  }
  void Repair() override {
    flood_.Close();
    limit_.Restore();
  }

 private:
  LoweredLimit limit_{RLIMIT_NOFILE};
  Flood flood_;
};

class LittleMemory final : public ResourceFault {
 public:
  [[nodiscard]] std::string_view kind() const override { return "little-memory"; }

 protected:
  Status Break(Target& /*target*/, const ProcessInfo& info, Prng& prng, FaultRecord& record) override {
    const std::uint64_t has = AddressSpace(info.id.pid);
    if (has == 0) return Error(Code::kUnavailable, fmt::format("/proc has no entry of {}", victim()));
    const auto more = static_cast<std::uint64_t>(prng.Between(0, 16)) << 20U;
    RATCHET_TRY(limit_.Lower(info.id.pid, has + more));
    record.evidence =
        fmt::format("{}: limit of address space {} MiB, it has {} MiB", victim(), (has + more) >> 20U, has >> 20U);
    return Ok();
  }
  void Repair() override { limit_.Restore(); }

 private:
  LoweredLimit limit_{RLIMIT_AS};
};

class ConnectionFlood final : public ResourceFault {
 public:
  [[nodiscard]] std::string_view kind() const override { return "connection-flood"; }

 protected:
  Status Break(Target& target, const ProcessInfo& info, Prng& prng, FaultRecord& record) override {
    rlimit own{};
    if (::getrlimit(RLIMIT_NOFILE, &own) == 0 && own.rlim_cur < own.rlim_max) {
      own.rlim_cur = own.rlim_max;
      if (::setrlimit(RLIMIT_NOFILE, &own) != 0) errno = 0;  // without it there are fewer connections
    }
    constexpr std::size_t kReserve = 512;  // descriptors for the driver's own work
    const std::size_t most = own.rlim_cur > 2 * kReserve ? static_cast<std::size_t>(own.rlim_cur) - kReserve : kReserve;
    const std::size_t wanted = std::min(static_cast<std::size_t>(prng.Between(1'000, 4'000)), most);
    const std::size_t before = OpenDescriptors(info.id.pid);
    const std::size_t opened = flood_.Open(target.OwnPort(victim()), wanted, prng);
    if (opened == 0) return Error(Code::kUnavailable, fmt::format("{} accepted no connection", victim()));
    std::size_t at_most = before;
    RATCHET_TRY(WaitUntil(victim() + " has or refuses the connections", kResourceShowsWithin, [&] {
      target.Meanwhile();
      at_most = std::max(at_most, OpenDescriptors(info.id.pid));
      return !target.Running(victim()) || at_most - before + flood_.Refused() >= opened / 2;
    }));
    record.evidence = fmt::format("{}: {} connections accepted by the kernel, {} more descriptors, {} closed by it",
                                  victim(), opened, at_most - before, flood_.Refused());
    return Ok();
  }
  void Repair() override { flood_.Close(); }

 private:
  Flood flood_;
};

}  // namespace

std::unique_ptr<Fault> MakeFewDescriptors() { return std::make_unique<FewDescriptors>(); }
std::unique_ptr<Fault> MakeLittleMemory() { return std::make_unique<LittleMemory>(); }
std::unique_ptr<Fault> MakeConnectionFlood() { return std::make_unique<ConnectionFlood>(); }

}  // namespace ratchet::chaos
