#include "chaos/faults/storage_faults.h"

#include <signal.h>

#include <utility>

#include "chaos/cluster/ceph_storage.h"
#include "chaos/faults/target.h"
#include "chaos/faults/victims.h"

namespace ratchet::chaos {
namespace {

enum class Whose { kMetadataServer, kMonitor, kObjectStore, kClient, kHost };
enum class StorageVerb { kKill, kPause, kEvict, kCut };

struct StorageFaultKind {
  std::string_view kind;
  Whose whose;
  StorageVerb verb;
  std::int64_t least_ms;
  std::int64_t most_ms;
};

constexpr StorageFaultKind kStorageKinds[] = {
    {"kill-mds", Whose::kMetadataServer, StorageVerb::kKill, 1'000, 8'000},
    {"pause-mds", Whose::kMetadataServer, StorageVerb::kPause, 500, 15'000},
    {"kill-mon", Whose::kMonitor, StorageVerb::kKill, 200, 5'000},
    {"pause-mon", Whose::kMonitor, StorageVerb::kPause, 200, 8'000},
    {"kill-osd", Whose::kObjectStore, StorageVerb::kKill, 500, 8'000},
    {"pause-osd", Whose::kObjectStore, StorageVerb::kPause, 500, 10'000},
    {"kill-storage-client", Whose::kClient, StorageVerb::kKill, 0, 0},
    {"pause-storage-client", Whose::kClient, StorageVerb::kPause, 500, 20'000},
    {"evict-storage-client", Whose::kClient, StorageVerb::kEvict, 0, 0},
    // May last longer than the storage's session timeout: then the client was evicted when the cut ends.
    {"cut-storage-client", Whose::kClient, StorageVerb::kCut, 500, 40'000},
    {"kill-host", Whose::kHost, StorageVerb::kKill, 500, 5'000},
};
constexpr Millis kPatience{10'000};

// A process of the mini Ceph, by pid and start time: it is never signalled when its pid was reused.
struct BrokenDaemon {
  std::string name;  // "mdsa", "fuse-rs-1"
  ProcessId id;
};

class StorageFault final : public Fault {
 public:
  explicit StorageFault(const StorageFaultKind& what) : what_(what) {}

  [[nodiscard]] std::string_view kind() const override { return what_.kind; }
  [[nodiscard]] std::string_view Needs() const override {
    return "a cluster of its own on a mini Ceph (--storage ceph)";
  }
  [[nodiscard]] std::optional<std::string> Unavailable(Target& target) override {
    if (Ceph(target) == nullptr) return "the root is not on a mini Ceph (--storage ceph)";
    if (what_.verb == StorageVerb::kCut && !CephStorage::CanCut()) return "iptables is not installed";
    return std::nullopt;
  }

  [[nodiscard]] Result<FaultRecord> Inject(Target& target, Prng& prng) override {
    FaultRecord record;
    record.kind = what_.kind;
    record.injected = SystemClock().Now();
    const Status done = Break(target, prng, record);
    if (done.ok()) return record;
    IgnoreResult(Heal(target), "the first error is returned");
    return done.error().Annotate(what_.kind);
  }

  [[nodiscard]] std::optional<Millis> Duration(Prng& prng) override {
    if (what_.most_ms == 0) return std::nullopt;
    return Millis(prng.Between(what_.least_ms, what_.most_ms));
  }

  [[nodiscard]] Status Heal(Target& target) override {
    Status first = Ok();
    for (const std::string& name : std::exchange(cut_, {})) {
      const Status healed = Ceph(target)->LetThrough(name);
      if (!healed.ok() && first.ok()) first = healed;
    }
    for (const BrokenDaemon& each : std::exchange(broken_, {})) {
      Status healed = Ok();
      if (what_.verb == StorageVerb::kPause) {
        healed = Signal(each.id, SIGCONT);  // the process is gone: its replacement was started meanwhile
        if (!healed.ok() && healed.error().code() == Code::kNotFound) healed = Ok();
      } else if (IsDaemon()) {
        healed = Ceph(target)->StartDaemon(each.name);
      }
      if (!healed.ok() && first.ok()) first = healed;
    }
    for (const std::string& name : std::exchange(down_, {})) {
      if (target.Running(name)) continue;
      const Status started = target.Start(name);  // on a new mount
      if (!started.ok() && first.ok()) first = started;
    }
    return first;
  }

 private:
  [[nodiscard]] static const CephStorage* Ceph(Target& target) {
    return target.processes() == nullptr ? nullptr : target.processes()->ceph();
  }
  [[nodiscard]] bool IsDaemon() const { return what_.whose != Whose::kClient && what_.whose != Whose::kHost; }

  Result<BrokenDaemon> PickDaemon(const CephStorage& ceph, Prng& prng) const {
    std::string name;
    switch (what_.whose) {
      case Whose::kMetadataServer: {
        RATCHET_ASSIGN(name, ceph.ActiveMetadataServer());
        break;
      }
      case Whose::kObjectStore: name = prng.Between(0, 1) == 0 ? "osd0" : "osd1"; break;
      default: name = "mon"; break;
    }
    return Find(ceph, name);
  }

  static Result<BrokenDaemon> Find(const CephStorage& ceph, const std::string& name) {
    RATCHET_ASSIGN(const ProcessId id, ceph.Find(name));
    return BrokenDaemon{name, id};
  }

  // Kills or pauses one process, and waits until the kernel shows it.
  Status Hit(const BrokenDaemon& victim, FaultRecord& record) {
    const bool kills = what_.verb == StorageVerb::kKill;
    RATCHET_TRY(Signal(victim.id, kills ? SIGKILL : SIGSTOP));
    broken_.push_back(victim);
    RATCHET_TRY(WaitUntil(victim.name + (kills ? " is gone" : " has stopped"), kPatience,
                          [&] { return kills ? !IsAlive(victim.id) : KernelState(victim.id) == 'T'; }));
    record.evidence += fmt::format("{}{} (pid {}) is {}", record.evidence.empty() ? "" : ", ", victim.name,
                                   victim.id.pid, kills ? "gone" : "stopped");
    return Ok();
  }

  Status Break(Target& target, Prng& prng, FaultRecord& record) {
    const CephStorage& ceph = *Ceph(target);
    if (IsDaemon()) {
      RATCHET_ASSIGN(const BrokenDaemon daemon, PickDaemon(ceph, prng));
      record.victims = {daemon.name};
      return Hit(daemon, record);
    }
    RATCHET_ASSIGN(const Victims picked, PickAnyProcess(target, prng));
    const std::string& process = picked.front();
    record.victims = {process};
    const auto active = target.ActiveMaster();
    record.kills_master = what_.whose == Whose::kHost && active.ok() && *active == process;
    if (what_.verb == StorageVerb::kEvict) {
      RATCHET_TRY(ceph.Evict(process));
      record.evidence = "the metadata servers have evicted client." + process;
      return Ok();
    }
    if (what_.verb == StorageVerb::kCut) {
      cut_.push_back(process);
      RATCHET_TRY(ceph.Cut(process));
      record.evidence = "packets of client." + process + " to the storage were dropped";
      return Ok();
    }
    RATCHET_ASSIGN(const BrokenDaemon client, Find(ceph, "fuse-" + process));
    // Kills the client first, because a process cannot end while its request waits for a paused client. Like the client
    // of a dead host, it does not close its session with the storage.
    RATCHET_TRY(Hit(client, record));
    if (what_.whose != Whose::kHost) return Ok();
    down_.push_back(process);
    const Status killed = target.Kill(process);
    if (!killed.ok() && target.Running(process)) return killed;
    record.evidence += fmt::format(", {} is gone", process);
    return Ok();
  }

  const StorageFaultKind& what_;
  std::vector<BrokenDaemon> broken_;
  std::vector<std::string> down_;  // processes that died with their host
  std::vector<std::string> cut_;   // processes whose client is cut off
};

}  // namespace

std::unique_ptr<Fault> MakeStorageFault(std::string_view kind) {
  for (const auto& each : kStorageKinds) {
    if (each.kind == kind) return std::make_unique<StorageFault>(each);
  }
  return nullptr;
}

std::vector<std::string_view> StorageFaultKinds() {
  std::vector<std::string_view> kinds;
  for (const auto& each : kStorageKinds) kinds.push_back(each.kind);
  return kinds;
}

}  // namespace ratchet::chaos
