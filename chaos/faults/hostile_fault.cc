#include "chaos/faults/hostile_fault.h"

#include <atomic>
#include <thread>
#include <utility>

#include "chaos/faults/victims.h"
#include "chaos/hostile/hostile_client.h"

namespace ratchet::chaos {
namespace {

constexpr std::uint64_t kAtLeast = 100;  // requests before the fault counts as felt
constexpr Millis kWithin{30'000};

class HostileFault final : public Fault {
 public:
  ~HostileFault() override { Join(); }

  [[nodiscard]] std::string_view kind() const override { return "hostile-client"; }
  [[nodiscard]] std::string_view Needs() const override { return "processes of this machine"; }
  [[nodiscard]] std::optional<std::string> Unavailable(Target& target) override {
    if (target.processes() == nullptr) return "the ports of single processes are not known on this target";
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
    // None of these requests may end a process: its end is told as that of a defect.
    record.evidence = fmt::format("{}: {} impossible requests so far, {} of them refused, seed {}", victims.front(), sent_.load(),
                                  refused_.load(), seed);
    return record;
  }

  [[nodiscard]] std::optional<Millis> Duration(Prng& prng) override { return Millis(prng.Between(2'000, 8'000)); }

  [[nodiscard]] Status Heal(Target& /*target*/) override {
    Join();
    return Ok();
  }

 private:
  void Join() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }

  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> sent_{0};
  std::atomic<std::uint64_t> refused_{0};
  std::thread thread_;
};

}  // namespace

std::unique_ptr<Fault> MakeHostileClient() { return std::make_unique<HostileFault>(); }

}  // namespace ratchet::chaos
