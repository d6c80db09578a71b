#include "chaos/faults/refusing_port.h"

#include <utility>

#include <fmt/core.h>

#include "chaos/faults/network_faults.h"
#include "chaos/faults/victims.h"
#include "chaos/network/links.h"
#include "common/rpc/address_probe.h"

namespace ratchet::chaos {
namespace {

constexpr Millis kConnectPatience{1'000};
constexpr Millis kShutWithin{5'000};

class ResetAndRefuse final : public Fault {
 public:
  [[nodiscard]] std::string_view kind() const override { return "reset-and-refuse"; }
  [[nodiscard]] std::string_view Needs() const override { return kNeedsLinks; }
  [[nodiscard]] std::optional<std::string> Unavailable(Target& target) override { return WhyNoLinks(target); }

  [[nodiscard]] Result<FaultRecord> Inject(Target& target, Prng& prng) override {
    const bool master = prng.Chance(1, 3);
    RATCHET_ASSIGN(const auto victims, master ? PickActiveMaster(target, prng) : PickServer(target, prng));
    const std::string& victim = victims.front();
    const ProcessInfo info = target.processes()->Info(victim);
    FaultRecord record;
    record.kind = kind();
    record.victims = victims;
    record.injected = SystemClock().Now();
    broken_ = victim;
    const std::size_t cut = target.links()->ResetAndRefuse(victim);
    Status shut = WaitUntil("a refused connection to " + victim, kShutWithin, [&] {
      return rpc::TryConnect("127.0.0.1", info.port, kConnectPatience) == rpc::ConnectOutcome::kRefused;
    });
    if (shut.ok() && !target.Running(victim)) shut = Error(Code::kUnavailable, victim + " has ended meanwhile");
    if (!shut.ok()) {
      IgnoreResult(Heal(target), "the first error is returned");
      return shut.error().Annotate(kind());
    }
    record.evidence = fmt::format("{} (pid {}) lives; {} connections are reset and port {} refuses", victim,
                                  info.id.pid, cut, info.port);
    return record;
  }

  [[nodiscard]] std::optional<Millis> Duration(Prng& prng) override { return Millis(prng.Between(300, 5'000)); }

  [[nodiscard]] Status Heal(Target& target) override {
    const std::string name = std::exchange(broken_, "");
    if (name.empty()) return Ok();
    target.links()->AcceptAgain(name);
    return target.Running(name) ? Ok() : target.Start(name);
  }

 private:
  std::string broken_;
};

}  // namespace

std::unique_ptr<Fault> MakeResetAndRefuse() { return std::make_unique<ResetAndRefuse>(); }

}  // namespace ratchet::chaos
