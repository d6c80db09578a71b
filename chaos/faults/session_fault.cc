#include "chaos/faults/session_fault.h"

#include "chaos/faults/victims.h"
#include "chaos/faults/zookeeper_takeover.h"
#include "common/model/server_name.h"
#include "common/zk/master_election.h"
#include "common/zk/zk_paths.h"
#include "common/zk/zk_session.h"

namespace ratchet::chaos {
namespace {

constexpr Millis kSessionEnds{10'000};

// Returns the node with which the process at `port` is registered.
Result<std::string> NodeOf(zk::ZkSession& session, Role role, std::uint16_t port) {
  const zk::ZkPaths paths;
  if (role == Role::kMaster) {
    const auto master = zk::ReadMaster(session, paths);
    if (master.ok() && master->server.port == port) return paths.Master();
  }
  const std::string folder = role == Role::kMaster ? paths.BackupMasters() : paths.RegionServers();
  RATCHET_ASSIGN(const auto children, session.Children(folder));
  for (const auto& child : children) {
    const auto server = ServerName::Parse(child);
    if (server.ok() && server->port == port) return folder + "/" + child;
  }
  return Error(Code::kNotFound, fmt::format("no process at port {} is registered in ZooKeeper", port));
}

class ExpireSession final : public Fault {
 public:
  [[nodiscard]] std::string_view kind() const override { return "expire-session"; }

  [[nodiscard]] std::string_view Needs() const override { return "processes of this machine"; }
  [[nodiscard]] std::optional<std::string> Unavailable(Target& target) override {
    if (target.processes() == nullptr) return "this target's servers cannot be identified by their ports";
    return std::nullopt;
  }

  [[nodiscard]] Result<FaultRecord> Inject(Target& target, Prng& prng) override {
    RATCHET_ASSIGN(const auto victims, PickAnyProcess(target, prng));
    const std::string& victim = victims.front();
    const ProcessInfo info = target.processes()->Info(victim);
    RATCHET_ASSIGN(auto session, zk::ZkSession::Open({target.zookeeper(), kSessionEnds}));
    RATCHET_TRY(session->WaitConnected(kSessionEnds));
    RATCHET_ASSIGN(const auto node, NodeOf(*session, info.role, info.port));
    RATCHET_ASSIGN(const auto data, session->Get(node));
    const auto active = target.ActiveMaster();
    FaultRecord record;
    record.kind = kind();
    record.victims = victims;
    record.injected = SystemClock().Now();
    record.kills_master = active.ok() && *active == victim;
    broken_ = victim;
    const std::uint32_t before = target.CameAgain(victim);
    // The owner reconnects at once and takes the session back, so several attempts may be needed.
    RATCHET_TRY(WaitUntil("the session of " + victim + " is over", kSessionEnds, [&] {
      const Status closed = CloseSession(target.zookeeper(), data.owner_session, kSessionEnds);
      return closed.ok() || closed.error().code() == Code::kNotFound;
    }));
    // The process learns of it when it reconnects, and must then end by itself or restart under another name.
    RATCHET_TRY(WaitUntil(victim + " leaves after its session", kSessionEnds,
                          [&] { return !target.Running(victim) || target.CameAgain(victim) > before; }));
    const std::uint32_t again = target.CameAgain(victim);
    record.evidence = fmt::format(
        "session {:#x} was closed; {} {}", static_cast<std::uint64_t>(data.owner_session), victim,
        again > before
            ? fmt::format("restarted itself, {} times so far", again)
            : fmt::format("left with exit code {}", target.processes()->Info(victim).exit_code.value_or(-1)));
    return record;
  }

  [[nodiscard]] std::optional<Millis> Duration(Prng& prng) override { return Millis(prng.Between(0, 2'000)); }

  [[nodiscard]] Status Heal(Target& target) override {
    const std::string name = std::exchange(broken_, "");
    return name.empty() || target.Running(name) ? Ok() : target.Start(name);
  }

 private:
  std::string broken_;
};

}  // namespace

std::unique_ptr<Fault> MakeExpireSession() { return std::make_unique<ExpireSession>(); }

}  // namespace ratchet::chaos
