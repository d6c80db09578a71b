#include <cerrno>
#include <functional>
#include <iterator>
#include <thread>

#include "chaos/faults/cluster_client.h"
#include "chaos/faults/machine_faults.h"
#include "chaos/faults/process_faults.h"
#include "chaos/faults/shim_victims.h"
#include "chaos/faults/victims.h"
#include "chaos/shim/process_shims.h"
#include "common/base/exit_codes.h"

namespace ratchet::chaos {
namespace {

constexpr Millis kShimShowsWithin{20'000};
constexpr Millis kUnprovoked{500};  // without an effect for this long, the driver makes the victim use files

// Gives the order, and returns its description.
using Order = std::string (*)(ShimControl&, Prng&);

std::string SlowSync(ShimControl& control, Prng& prng) {
  control.sync_delay_ms = static_cast<std::int32_t>(prng.Between(20, 500));
  return fmt::format("each sync takes {} ms more", control.sync_delay_ms.load());
}
std::string StalledSync(ShimControl& control, Prng& /*prng*/) {
  control.sync_delay_ms = 60'000;
  return "syncs stall";
}
std::string FailingSync(ShimControl& control, Prng& prng) {
  constexpr std::int32_t kErrors[] = {EIO, ENOSPC, EDQUOT};
  control.sync_errno = kErrors[prng.Below(3)];
  return fmt::format("each sync fails with errno {}", control.sync_errno.load());
}
std::int32_t OneIn(ShimControl& control, Prng& prng) {
  control.one_in = static_cast<std::int32_t>(prng.Between(1, 20));
  return control.one_in;
}
std::string ReadError(ShimControl& control, Prng& prng) {
  constexpr std::int32_t kErrors[] = {EIO, ENOMEM, EMFILE};
  const std::int32_t one_in = OneIn(control, prng);
  control.read_errno = kErrors[prng.Below(3)];
  return fmt::format("one read or opening of a file in {} fails with errno {}", one_in, control.read_errno.load());
}
std::string ListError(ShimControl& control, Prng& prng) {
  constexpr std::int32_t kErrors[] = {EIO, ENOMEM, EMFILE, ENFILE};
  const std::int32_t one_in = OneIn(control, prng);
  control.list_errno = kErrors[prng.Below(4)];
  return fmt::format("one listing or look-up of a name in {} fails with errno {}", one_in, control.list_errno.load());
}
std::string ReadOnlyRoot(ShimControl& control, Prng& /*prng*/) {
  control.write_errno = EROFS;
  return "every change of a file or folder fails with EROFS";
}
std::string NoInodes(ShimControl& control, Prng& /*prng*/) {
  control.create_errno = ENOSPC;
  return "every creation of a file or folder fails with ENOSPC";
}
std::string NthCall(ShimControl& control, Prng& prng) {
  constexpr std::int32_t kErrors[] = {0, 0, 0, EIO, ENOSPC, ENOMEM, EINTR};
  const auto call = prng.Between(1, 300);
  control.nth_errno = kErrors[prng.Below(std::size(kErrors))];
  control.nth_call = call;
  if (control.nth_errno == 0) return fmt::format("it ends at file call {} from now", call);
  return fmt::format("file call {} from now fails with errno {}", call, control.nth_errno.load());
}
// The processes that can be affected: those that look up names while they serve (a standby does not), those that sync,
// those that read files, and region servers, which create files on request.
enum class Feels : std::uint8_t { kLooking, kSyncing, kReading, kCreating };

// Says whether the fault ends the process. Where it cannot write or read its root, or gets an error where it cannot
// continue, it may end for that reason; so may one that another fault ended, and that starts meanwhile.
enum class Ends : std::uint8_t { kNo, kMaybeAtRoot, kYes };

struct ShimFaultKind {
  std::string_view kind;
  Order order;
  std::atomic<std::uint64_t> ShimControl::*effect;  // grows when the process was affected
  Feels feels;
  Ends ends;
  Lasting lasting;
};

constexpr ShimFaultKind kShimKinds[] = {
    {"slow-sync", SlowSync, &ShimControl::syncs_delayed, Feels::kSyncing, Ends::kNo, {500, 5'000, false}},
    {"stalled-sync", StalledSync, &ShimControl::syncs_delayed, Feels::kSyncing, Ends::kNo, {1'000, 8'000, false}},
    {"failing-sync", FailingSync, &ShimControl::syncs_failed, Feels::kSyncing, Ends::kYes, {200, 3'000, false}},
    {"read-error", ReadError, &ShimControl::reads_failed, Feels::kReading, Ends::kMaybeAtRoot, {500, 5'000, false}},
    {"list-error", ListError, &ShimControl::lists_failed, Feels::kLooking, Ends::kMaybeAtRoot, {500, 5'000, false}},
    {"read-only-root",
     ReadOnlyRoot,
     &ShimControl::writes_refused,
     Feels::kSyncing,
     Ends::kMaybeAtRoot,
     {500, 5'000, false}},
    {"no-inodes", NoInodes, &ShimControl::creations_refused, Feels::kCreating, Ends::kNo, {2'000, 8'000, false}},
    {"nth-call", NthCall, &ShimControl::nth_acted, Feels::kSyncing, Ends::kMaybeAtRoot, {0, 2'000, false}},
};

class ShimFault final : public Fault {
 public:
  explicit ShimFault(const ShimFaultKind& what) : what_(what) {}

  [[nodiscard]] std::string_view kind() const override { return what_.kind; }

  [[nodiscard]] std::string_view Needs() const override { return kNeedsShims; }
  [[nodiscard]] std::optional<std::string> Unavailable(Target& target) override { return WhyNoShims(target); }

  [[nodiscard]] Result<FaultRecord> Inject(Target& target, Prng& prng) override {
    RATCHET_ASSIGN(victim_, Pick(target, prng));
    RATCHET_ASSIGN(ShimControl* const control, target.shims()->Of(victim_));
    FaultRecord record;
    record.kind = what_.kind;
    record.victims = {victim_};
    const auto active = target.ActiveMaster();
    record.kills_master = what_.ends == Ends::kYes && active.ok() && *active == victim_;
    const std::uint64_t before = control->*what_.effect;
    record.injected = SystemClock().Now();
    if (what_.ends == Ends::kMaybeAtRoot) target.Expect(victim_, exit_code::kRootUnusable);
    record.evidence = victim_ + ": " + what_.order(*control, prng);
    const Status felt = AwaitEffect(target, prng, *control, before, record.evidence);
    if (felt.ok()) return record;
    IgnoreResult(Heal(target), "the first error is returned");
    return felt.error().Annotate(what_.kind);
  }

  [[nodiscard]] std::optional<Millis> Duration(Prng& prng) override {
    return Millis(prng.Between(what_.lasting.least, what_.lasting.most));
  }

  [[nodiscard]] Status Heal(Target& target) override {
    const std::string name = std::exchange(victim_, "");
    return name.empty() ? Ok() : HealShims(target, {name});
  }

 private:
  // Picks a process that can be affected; for syncs, one of those that have just synced.
  Result<std::string> Pick(Target& target, Prng& prng) const {
    Victims all = what_.feels == Feels::kSyncing ? RunningServers(target) : RunningOnes(target, Role::kRegionServer);
    if (const auto active = target.ActiveMaster(); what_.feels == Feels::kLooking && active.ok())
      all.push_back(*active);
    if (what_.feels == Feels::kSyncing) {
      std::map<std::string, std::uint64_t> before;
      for (const auto& name : all) {
        RATCHET_ASSIGN(const ShimControl* const control, target.shims()->Of(name));
        before[name] = control->syncs;
      }
      Victims syncing;
      RATCHET_TRY(WaitUntil("a process that syncs", kShimShowsWithin, [&] {
        std::this_thread::sleep_for(Millis(100));  // so that others than the busiest have a chance
        for (const auto& name : all) {
          const auto control = target.shims()->Of(name);
          if (control.ok() && (*control)->syncs != before[name]) syncing.push_back(name);
        }
        return !syncing.empty();
      }));
      all = syncing;
    }
    if (all.empty()) return Error(Code::kUnavailable, "no process runs");
    return all[prng.Below(all.size())];
  }

  // Makes the victim use files. An opening of a region on a region server lists its directory, reads its manifest and
  // store files, and makes a file. A flush makes one and reads it again on each server that has something of the table
  // in memory. The active master writes each step of both to its store.
  void Provoke(Target& target, Prng& prng) const {
    auto client = ClusterClient::Open(target);
    if (!client.ok()) return;
    const auto servers = (*client)->OnlineServers();
    Status moved = Error(Code::kUnavailable, victim_ + " is not an online region server");
    for (const ServerName& server : servers.ok() ? *servers : std::vector<ServerName>()) {
      if (target.NameOf(server) == victim_) moved = (*client)->MoveSomething(prng, &server);
    }
    // Also if the victim has all regions: then the next round may move the region back.
    if (!moved.ok()) IgnoreResult((*client)->MoveSomething(prng), "a flush uses files, too");
    const auto tables = (*client)->admin().ListTables();
    if (!tables.ok()) return;
    for (const TableName& table : *tables) {
      const auto pid = (*client)->admin().FlushTable(table);
      if (!pid.ok() && prng.Chance(1, 4)) return;
    }
  }

  // A process that is idle, or whose one call in 20 fails, may use no file for a long time.
  Status AwaitFelt(Target& target, Prng& prng, const std::function<bool()>& felt) const {
    const TimePoint until = SystemClock().Now() + kShimShowsWithin;
    for (;;) {
      Status shown = WaitUntil(victim_ + " feels it", kUnprovoked, felt);
      if (shown.ok()) return shown;
      if (SystemClock().Now() >= until) {
        return Error(Code::kTimeout, fmt::format("{} feels it: not within {} ms", victim_, kShimShowsWithin.count()));
      }
      target.Meanwhile();
      Provoke(target, prng);
    }
  }

  Status AwaitEffect(Target& target, Prng& prng, const ShimControl& control, std::uint64_t before,
                     std::string& evidence) const {
    RATCHET_TRY(AwaitFelt(target, prng, [&] { return control.*what_.effect > before; }));
    evidence += fmt::format(", felt {} times", control.*what_.effect - before);
    if (what_.ends != Ends::kYes) return Ok();
    // A failed sync must end the process (S6: failed sync ends the process): a process that continues would acknowledge
    // data that is not durable.
    const auto ended = [&] { return !target.Running(victim_); };
    RATCHET_TRY(WaitUntil(victim_ + " ends after a failed sync", kShimShowsWithin, ended));
    const auto code = target.processes()->Info(victim_).exit_code;
    evidence += fmt::format(", ended with exit code {}", code.value_or(-1));
    return Ok();
  }

  const ShimFaultKind& what_;
  std::string victim_;
};

}  // namespace

std::unique_ptr<Fault> MakeShimFault(std::string_view kind) {
  for (const auto& candidate : kShimKinds) {
    if (candidate.kind == kind) return std::make_unique<ShimFault>(candidate);
  }
  return nullptr;
}

std::vector<std::string_view> ShimFaultKinds() {
  std::vector<std::string_view> kinds;
  for (const auto& candidate : kShimKinds) kinds.push_back(candidate.kind);
  return kinds;
}

}  // namespace ratchet::chaos
