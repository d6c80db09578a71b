// disconnect-server, disconnect-active-master: the container engine disconnects a container from its network.
#include "chaos/faults/machine_faults.h"
#include "chaos/faults/victims.h"

namespace ratchet::chaos {
namespace {

class Disconnection final : public Fault {
 public:
  Disconnection(std::string_view kind, PickVictims pick) : kind_(kind), pick_(pick) {}

  [[nodiscard]] std::string_view kind() const override { return kind_; }

  [[nodiscard]] std::string_view Needs() const override { return "the Compose cluster (a container engine)"; }
  [[nodiscard]] std::optional<std::string> Unavailable(Target& target) override {
    if (target.kind() != "compose") return "only containers can be disconnected from their network; see isolate-server";
    return std::nullopt;
  }

  [[nodiscard]] Result<FaultRecord> Inject(Target& target, Prng& prng) override {
    session_ = target.session_timeout();
    RATCHET_ASSIGN(const auto victims, pick_(target, prng));
    FaultRecord record;
    record.kind = kind_;
    record.victims = victims;
    record.injected = SystemClock().Now();
    cut_ = victims.front();
    RATCHET_TRY(target.Disconnect(cut_));
    record.evidence = cut_ + " is not in a network, according to the engine";
    return record;
  }

  [[nodiscard]] std::optional<Millis> Duration(Prng& prng) override {
    return Millis(prng.Between(150, 400) * session_.count() / 100);
  }

  [[nodiscard]] Status Heal(Target& target) override {
    const std::string name = std::exchange(cut_, "");
    return name.empty() ? Ok() : target.Reconnect(name);
  }

 private:
  const std::string_view kind_;
  const PickVictims pick_;
  Millis session_{2'000};
  std::string cut_;
};

}  // namespace

std::unique_ptr<Fault> MakeDisconnectServer() {
  return std::make_unique<Disconnection>("disconnect-server", PickServer);
}
std::unique_ptr<Fault> MakeDisconnectActiveMaster() {
  return std::make_unique<Disconnection>("disconnect-active-master", PickActiveMaster);
}

}  // namespace ratchet::chaos
