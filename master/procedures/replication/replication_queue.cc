#include "master/procedures/replication/replication_queue.h"

#include <map>
#include <optional>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "master/cluster/membership.h"
#include "master/cluster/peer_directory.h"
#include "master/procedures/core/act_on_files.h"
#include "procedure/api/executor.h"

namespace ratchet::master {
namespace {

procedure::LockSet LockOfDead(const std::string& dead) {
  return {procedure::Exclusive(procedure::ResourceKey::Server(dead))};
}

// Returns the server with the fewest queues; the first by name if several have as few.
std::optional<ServerName> ChooseClaimer(const MasterEnv& env) {
  std::map<std::string, std::size_t> claims;
  for (const auto& queue : env.peers.Queues()) ++claims[queue.claimer()];
  std::optional<ServerName> best;
  std::size_t fewest = 0;
  for (const ServerName& server : env.servers.Online()) {
    const std::size_t has = claims[server.ToString()];
    if (!best || has < fewest) best = server, fewest = has;
  }
  return best;
}

}  // namespace

std::string QueueRecordKey(const std::string& dead) { return std::string(kQueueRecordPrefix) + dead; }

bool HasQueue(const MasterEnv& env, const std::string& dead) {
  return env.executor->SystemRecord(QueueRecordKey(dead)).has_value();
}

ProcedurePtr ClaimReplicationQueues::Make(const std::string& dead, bool first) {
  pb::ClaimReplicationQueuesData data;
  data.set_server(dead);
  data.set_first(first);
  return std::make_unique<ClaimReplicationQueues>(std::move(data));
}

procedure::LockSet ClaimReplicationQueues::Locks() const { return LockOfDead(data_.server()); }

procedure::Description ClaimReplicationQueues::Describe() const {
  return procedure::Description()
      .Add("server", data_.server())
      .Add("claimer", data_.claimer().empty() ? "none yet" : data_.claimer());
}

StepOutcome ClaimReplicationQueues::Claim(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  if (!data_.first() && !HasQueue(env, data_.server())) return Done{};
  auto ticket = ctx.TakeTicket(Membership::ServerAddedEvent());
  const auto claimer = ChooseClaimer(env);
  if (!claimer) return Await{std::move(ticket), std::nullopt};
  data_.set_claimer(claimer->ToString());
  data_.set_first(false);
  hbase::pb::ReplicationQueue queue;
  queue.set_server(data_.server());
  queue.set_claimer(data_.claimer());
  ctx.PutSystemRecord(QueueRecordKey(data_.server()), queue.SerializeAsString());
  return GoTo<&ClaimReplicationQueues::Show>();
}

StepOutcome ClaimReplicationQueues::Show(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  env.peers.ShowQueue(data_.server(), env.executor->SystemRecord(QueueRecordKey(data_.server())));
  const auto claimer = MaybeServerFromData(data_.claimer());
  if (claimer && !env.servers.IsOnline(*claimer)) return GoTo<&ClaimReplicationQueues::Claim>();
  RATCHET_LOG(kInfo, "pid={} {} ships the rest of the logs of {}", ctx.pid(), data_.claimer(), data_.server());
  return Done{};
}

ProcedurePtr RetireReplicationQueue::Make(const std::string& dead) {
  pb::RetireReplicationQueueData data;
  data.set_server(dead);
  return std::make_unique<RetireReplicationQueue>(std::move(data));
}

procedure::LockSet RetireReplicationQueue::Locks() const { return LockOfDead(data_.server()); }

StepOutcome RetireReplicationQueue::ArchiveLogs(StepContext& ctx) {
  const auto archive = [server = ServerFromData(data_.server()), epoch = ctx.epoch()](ClusterFiles& files) {
    return files.ArchiveKeptLogs(server, epoch);
  };
  const std::string what = fmt::format("moving oldWALs/{} to the archive", data_.server());
  RATCHET_STEP(ActUntilDone(ctx, what, archive));
  return GoTo<&RetireReplicationQueue::RemoveQueue>();
}

StepOutcome RetireReplicationQueue::RemoveQueue(StepContext& ctx) {
  ctx.DeleteSystemRecord(QueueRecordKey(data_.server()));
  return GoTo<&RetireReplicationQueue::Show>();
}

StepOutcome RetireReplicationQueue::Show(StepContext& ctx) {
  MasterEnv& env = EnvOf(ctx);
  env.peers.ShowQueue(data_.server(), env.executor->SystemRecord(QueueRecordKey(data_.server())));
  RATCHET_LOG(kInfo, "pid={} the logs of {} are shipped to all peers", ctx.pid(), data_.server());
  return Done{};
}

}  // namespace ratchet::master
