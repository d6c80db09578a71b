#include "chaos/faults/hostile_fault.h"

#include <atomic>
#include <fstream>
#include <thread>
#include <utility>

#include "chaos/faults/growth_book.h"
#include "chaos/faults/victims.h"
#include "chaos/hostile/hostile_client.h"
#include "common/base/log.h"
#include "common/base/mutex.h"

namespace ratchet::chaos {
namespace {

constexpr std::uint64_t kAtLeast = 100;  // requests until the fault counts as effective
constexpr Millis kWithin{30'000};

// If memory grows more than this beyond the growth between attacks, the process leaks memory of impossible requests.
constexpr std::uint64_t kMayGrow = 256ULL << 20U;

// Returns the resident memory of a process in bytes; 0: the process is gone.
std::uint64_t ResidentBytes(int pid) {
  std::ifstream statm(fmt::format("/proc/{}/statm", pid));
  std::uint64_t all = 0;
  std::uint64_t resident = 0;
  statm >> all >> resident;
  return resident * 4096;
}

// The memory measurements of the run, because a fault object lives only for one injection.
class Memory {
 public:
  static Memory& OfRun() {
    static Memory memory;
    return memory;
  }
  void Begin(int pid) {
    const MutexLock lock(mutex_);
    book_.Begin(pid, ResidentBytes(pid), SystemClock().Now());
  }
  [[nodiscard]] double End(int pid) {
    const MutexLock lock(mutex_);
    return book_.End(pid, ResidentBytes(pid), SystemClock().Now());
  }

 private:
  Mutex mutex_;
  GrowthBook book_ GUARDED_BY(mutex_);
};

class HostileFault final : public Fault {
 public:
  ~HostileFault() override { Join(); }

  [[nodiscard]] std::string_view kind() const override { return "hostile-client"; }
  [[nodiscard]] std::string_view Needs() const override { return "processes of this machine"; }
  [[nodiscard]] std::optional<std::string> Unavailable(Target& target) override {
    if (target.processes() == nullptr) return "this target does not expose the ports of single processes";
    return std::nullopt;
  }

  [[nodiscard]] Result<FaultRecord> Inject(Target& target, Prng& prng) override {
    RATCHET_ASSIGN(const auto victims, PickAnyProcess(target, prng));
    FaultRecord record;
    record.kind = kind();
    record.victims = victims;
    record.injected = SystemClock().Now();
    const std::uint64_t seed = prng.Next();
    const rpc::Endpoint endpoint{"127.0.0.1", target.processes()->Info(victims.front()).port};
    pid_ = target.processes()->Info(victims.front()).id.pid;
    Memory::OfRun().Begin(pid_);
    stop_ = false;
    thread_ = std::thread([this, seed, endpoint] {
      HostileClient client(endpoint, seed, {});
      while (!stop_) {
        client.SendOne();
        sent_ = client.counts().sent;
        refused_ = client.counts().refused;
      }
    });
    const Status felt = WaitUntil(victims.front() + " gets impossible requests", kWithin, [&] {
      target.Meanwhile();
      return sent_ >= kAtLeast || !target.Running(victims.front());
    });
    if (!felt.ok()) {
      Join();
      return felt.error().Annotate(kind());
    }
    // None of these requests may end a process. Such an end is reported as a defect.
    record.evidence = fmt::format("{}: {} impossible requests so far, {} of them refused, seed {}, {} MiB resident",
                                  victims.front(), sent_.load(), refused_.load(), seed, ResidentBytes(pid_) >> 20U);
    return record;
  }

  [[nodiscard]] std::optional<Millis> Duration(Prng& prng) override { return Millis(prng.Between(2'000, 8'000)); }

  [[nodiscard]] Status Heal(Target& /*target*/) override {
    Join();
    if (pid_ == 0) return Ok();
    const int pid = std::exchange(pid_, 0);
    const std::uint64_t resident = ResidentBytes(pid);
    const double kept = Memory::OfRun().End(pid);
    RATCHET_LOG(kInfo, "hostile-client: process {} has {} MiB resident, {:.0f} of them for such requests", pid,
                resident >> 20U, kept / (1U << 20U));
    if (kept <= static_cast<double>(kMayGrow)) return Ok();
    return Error(Code::kResourceExhausted, fmt::format("process {} keeps memory of impossible requests: {:.0f} of {} "
                                                       "MiB resident, beyond its growth without them",
                                                       pid, kept / (1U << 20U), resident >> 20U));
  }

 private:
  void Join() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }

  int pid_ = 0;  // set while the fault is active
  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> sent_{0};
  std::atomic<std::uint64_t> refused_{0};
  std::thread thread_;
};

}  // namespace

std::unique_ptr<Fault> MakeHostileClient() { return std::make_unique<HostileFault>(); }

}  // namespace ratchet::chaos
