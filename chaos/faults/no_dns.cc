#include "chaos/faults/no_dns.h"

#include <netdb.h>

#include <fstream>
#include <iterator>
#include <utility>

#include "chaos/faults/shim_victims.h"
#include "chaos/shim/process_shims.h"

namespace ratchet::chaos {
namespace {

constexpr Millis kNoDnsShowsWithin{15'000};
constexpr std::string_view kZooKeeper = "RATCHET_ZOOKEEPER=";

// Returns the ensemble from the running process's environment, with the name "localhost" instead of its address.
Result<std::string> MembersByName(int pid) {
  std::ifstream in(fmt::format("/proc/{}/environ", pid), std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(in), {}};
  for (std::size_t from = 0; from < all.size();) {
    const std::size_t end = std::min(all.find('\0', from), all.size());
    std::string_view entry = std::string_view(all).substr(from, end - from);
    from = end + 1;
    if (!entry.starts_with(kZooKeeper)) continue;
    std::string members(entry.substr(kZooKeeper.size()));
    constexpr std::string_view kAddress = "127.0.0.1";
    for (auto at = members.find(kAddress); at != std::string::npos; at = members.find(kAddress, at)) {
      members.replace(at, kAddress.size(), "localhost");
    }
    return members;
  }
  return Error(Code::kNotFound, fmt::format("the environment of process {} has no {}", pid, kZooKeeper));
}

class NoDns final : public Fault {
 public:
  [[nodiscard]] std::string_view kind() const override { return "no-dns"; }
  [[nodiscard]] std::string_view Needs() const override { return kNeedsShims; }
  [[nodiscard]] std::optional<std::string> Unavailable(Target& target) override { return WhyNoShims(target); }

  // A running process has all addresses: what is broken is a start.
  [[nodiscard]] Result<FaultRecord> Inject(Target& target, Prng& prng) override {
    RATCHET_ASSIGN(const auto victims, PickAnyProcess(target, prng));
    victim_ = victims.front();
    FaultRecord record;
    record.kind = kind();
    record.victims = victims;
    record.injected = SystemClock().Now();
    const Status done = Break(target, record);
    if (done.ok()) return record;
    IgnoreResult(Heal(target), "the first error says more");
    return done.error().Annotate(kind());
  }

  [[nodiscard]] std::optional<Millis> Duration(Prng& prng) override { return Millis(prng.Between(2'000, 12'000)); }

  [[nodiscard]] Status Heal(Target& target) override {
    const std::string name = std::exchange(victim_, "");
    return name.empty() ? Ok() : HealShims(target, {name});
  }

 private:
  Status Break(Target& target, FaultRecord& record) {
    RATCHET_ASSIGN(ShimControl* const control, target.shims()->Of(victim_));
    const ProcessInfo info = target.processes()->Info(victim_);
    RATCHET_ASSIGN(const std::string members, MembersByName(info.id.pid));
    const auto active = target.ActiveMaster();
    record.kills_master = active.ok() && *active == victim_;
    RATCHET_TRY(target.Kill(victim_));
    const std::uint64_t before = control->lookups_failed;
    control->lookup_error = EAI_AGAIN;
    RATCHET_TRY(target.Start(victim_, {{"RATCHET_ZOOKEEPER", members}}));
    RATCHET_TRY(WaitUntil(victim_ + " looks names up", kNoDnsShowsWithin, [&] {
      target.Meanwhile();
      return control->lookups_failed > before;
    }));
    record.evidence = fmt::format("{} is started with --zookeeper {}: {} look-ups have failed", victim_, members,
                                  control->lookups_failed - before);
    return Ok();
  }

  std::string victim_;
};

}  // namespace

std::unique_ptr<Fault> MakeNoDns() { return std::make_unique<NoDns>(); }

}  // namespace ratchet::chaos
