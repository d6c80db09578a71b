#include "chaos/faults/system_descriptors.h"

#include <cerrno>
#include <utility>

#include "chaos/faults/flood.h"
#include "chaos/faults/shim_victims.h"
#include "chaos/faults/victims.h"
#include "chaos/shim/process_shims.h"

namespace ratchet::chaos {
namespace {

constexpr Millis kDescriptorsShowWithin{10'000};
constexpr std::size_t kConnectionsEach = 2;  // connections that each process should accept but cannot

class NoDescriptorsSystem final : public Fault {
 public:
  [[nodiscard]] std::string_view kind() const override { return "no-descriptors-system"; }
  [[nodiscard]] std::string_view Needs() const override { return kNeedsShims; }
  [[nodiscard]] std::optional<std::string> Unavailable(Target& target) override { return WhyNoShims(target); }

  [[nodiscard]] Result<FaultRecord> Inject(Target& target, Prng& prng) override {
    FaultRecord record;
    record.kind = kind();
    record.victims = RunningServers(target);
    if (record.victims.empty()) return Error(Code::kUnavailable, "no server runs");
    record.injected = SystemClock().Now();
    const Status broken = Break(target, prng, record);
    if (broken.ok()) return record;
    IgnoreResult(Heal(target), "the first error is returned");
    return broken.error().Annotate(kind());
  }

  [[nodiscard]] std::optional<Millis> Duration(Prng& prng) override { return Millis(prng.Between(500, 5'000)); }

  [[nodiscard]] Status Heal(Target& target) override {
    flood_.Close();
    return HealShims(target, std::exchange(victims_, {}));
  }

 private:
  // Effective when each running process was refused a descriptor.
  Status Break(Target& target, Prng& prng, FaultRecord& record) {
    // other processes release some and take them again
    const auto one_in = static_cast<std::int32_t>(prng.Between(1, 3));
    std::map<std::string, std::uint64_t> before;
    victims_ = record.victims;
    for (const auto& name : record.victims) {
      RATCHET_ASSIGN(ShimControl* const control, target.shims()->Of(name));
      before[name] = control->descriptors_refused;
      control->one_in = one_in;
      control->descriptor_errno = ENFILE;
    }
    for (const auto& name : record.victims)
      flood_.Open(target.OwnPort(name), kConnectionsEach * static_cast<std::size_t>(one_in), prng);
    std::uint64_t refused = 0;
    RATCHET_TRY(WaitUntil("every process is refused a descriptor", kDescriptorsShowWithin, [&] {
      target.Meanwhile();
      refused = 0;
      bool all = true;
      for (const auto& [name, earlier] : before) {
        const auto control = target.shims()->Of(name);
        const std::uint64_t here = control.ok() ? (*control)->descriptors_refused - earlier : 0;
        refused += here;
        all = all && (here > 0 || !target.Running(name));
      }
      return all;
    }));
    record.evidence =
        fmt::format("one call in {} that would make a descriptor fails with ENFILE in {} processes; {} did so far",
                    one_in, record.victims.size(), refused);
    return Ok();
  }

  Victims victims_;
  Flood flood_;
};

}  // namespace

std::unique_ptr<Fault> MakeNoDescriptorsSystem() { return std::make_unique<NoDescriptorsSystem>(); }

}  // namespace ratchet::chaos
