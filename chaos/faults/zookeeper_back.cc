#include "chaos/faults/zookeeper_back.h"

#include <filesystem>
#include <utility>

#include <fmt/ranges.h>

#include "chaos/faults/victims.h"
#include "common/base/exit_codes.h"

namespace ratchet::chaos {
namespace {

namespace fs = std::filesystem;

Status CopyFolder(const fs::path& from, const fs::path& to) {
  std::error_code failed;
  fs::remove_all(to, failed);
  if (!failed) fs::copy(from, to, fs::copy_options::recursive, failed);
  if (!failed) return Ok();
  return Error(Code::kIo, fmt::format("copying {} to {}: {}", from.string(), to.string(), failed.message()));
}

class ZooKeeperBack final : public Fault {
 public:
  [[nodiscard]] std::string_view kind() const override { return "zookeeper-back"; }
  [[nodiscard]] std::string_view Needs() const override { return "a cluster of its own"; }
  [[nodiscard]] std::optional<std::string> Unavailable(Target& target) override {
    if (target.processes() == nullptr || target.kind() != "local") {
      return "the data of this target's ZooKeeper is not this run's own";
    }
    return std::nullopt;
  }

  [[nodiscard]] Result<FaultRecord> Inject(Target& target, Prng& prng) override {
    FaultRecord record;
    record.kind = kind();
    record.injected = SystemClock().Now();
    const Status done = Break(target, prng, record);
    if (done.ok()) return record;
    IgnoreResult(Heal(target), "the first error says more");
    return done.error().Annotate(kind());
  }

  [[nodiscard]] std::optional<Millis> Duration(Prng& /*prng*/) override { return std::nullopt; }

  [[nodiscard]] Status Heal(Target& target) override {
    Victims down = target.Names(Role::kZooKeeper);
    std::erase_if(down, [&](const auto& name) { return target.Running(name); });
    return down.empty() ? Ok() : target.StartZooKeepers(down);
  }

 private:
  // The copy is made of members that do not run, as an operator's backup would be. Then sessions and nodes of a while
  // are written, and are gone.
  Status Break(Target& target, Prng& prng, FaultRecord& record) {
    const Victims members = target.Names(Role::kZooKeeper);
    const fs::path dir = target.processes()->spec().dir;
    record.victims = members;
    RATCHET_TRY(KillAll(target, members));
    for (const auto& name : members) RATCHET_TRY(CopyFolder(dir / name, dir / (name + ".older")));
    RATCHET_TRY(target.StartZooKeepers(members));
    RATCHET_TRY(AwaitMaster(target));
    // A server that ends and starts writes to ZooKeeper; so does a new master.
    RATCHET_ASSIGN(const auto servers, prng.Chance(1, 2) ? PickServer(target, prng) : PickActiveMaster(target, prng));
    RATCHET_TRY(target.Kill(servers.front()));
    RATCHET_TRY(target.Start(servers.front()));
    RATCHET_TRY(AwaitMaster(target));
    // S72 (root and ZooKeeper node belong together): a process that finds another cluster's past in ZooKeeper refuses
    // it.
    for (const auto& name : RunningServers(target)) target.Expect(name, exit_code::kWrongPlace);
    RATCHET_TRY(KillAll(target, members));
    for (const auto& name : members) {
      std::error_code failed;
      fs::remove_all(dir / name, failed);
      if (!failed) fs::rename(dir / (name + ".older"), dir / name, failed);
      if (failed) return Error(Code::kIo, fmt::format("{}: {}", (dir / name).string(), failed.message()));
    }
    RATCHET_TRY(target.StartZooKeepers(members));
    record.evidence = fmt::format("{} served, stopped, and restarted with its earlier data; meanwhile {} was started",
                                  fmt::join(members, ", "), servers.front());
    return Ok();
  }

  static Status KillAll(Target& target, const Victims& members) {
    for (const auto& name : members) {
      if (target.Running(name)) RATCHET_TRY(target.Kill(name));
    }
    return Ok();
  }

  static Status AwaitMaster(Target& target) {
    return WaitUntil("an active master", kServesWithin, [&] {
      target.Meanwhile();
      return target.ActiveMaster().ok();
    });
  }
};

}  // namespace

std::unique_ptr<Fault> MakeZooKeeperBack() { return std::make_unique<ZooKeeperBack>(); }

}  // namespace ratchet::chaos
