#include "master/chores/replication_manager.h"

#include <set>
#include <string>
#include <utility>

#include "common/base/log.h"
#include "common/model/replication_peer.h"
#include "master/cluster/membership.h"
#include "master/cluster/peer_directory.h"
#include "master/cluster/table_directory.h"
#include "master/procedures/replication/replication_queue.h"
#include "master/procedures/table/create_table.h"
#include "master/repair/table_comparison.h"
#include "procedure/api/executor.h"

namespace ratchet::master {

void ReplicationManager::Tick() {
  if (!env_.meta_loaded.load() || submitting_.load()) return;
  MakeTable();
  LookAfterQueues();
}

void ReplicationManager::MakeTable() {
  if (!env_.peers.ShipsAnything() || env_.tables.Exists(ReplicationTable())) return;
  // A table that is being created is not in memory at once.
  if (LayoutIsInHand(*env_.executor, ReplicationTable())) return;
  TableDescriptor table;
  table.name = ReplicationTable();
  table.families.push_back(DefaultFamily(kReplicationFamily));
  Submit(CreateTable::Make(table, {}));
}

void ReplicationManager::LookAfterQueues() {
  const auto queues = env_.peers.Queues();
  if (queues.empty()) return;
  std::set<std::pair<std::string, std::string>> finished;  // claimer, dead server
  for (const auto& [teller, progress] : env_.peers.Progress()) {
    if (progress.peer().empty() && progress.finished()) finished.emplace(teller.ToString(), progress.server());
  }
  const bool may_retire = env_.executor->FindUnfinished(RetireReplicationQueue::kTypeName).empty();
  const bool may_claim = env_.executor->FindUnfinished(ClaimReplicationQueues::kTypeName).empty();
  for (const auto& queue : queues) {
    const auto claimer = ServerName::Parse(queue.claimer());
    const bool lives = claimer.ok() && env_.servers.IsOnline(*claimer);
    if (!lives && may_claim) return Submit(ClaimReplicationQueues::Make(queue.server(), /*first=*/false));
    if (lives && may_retire && finished.contains({queue.claimer(), queue.server()}))
      return Submit(RetireReplicationQueue::Make(queue.server()));
  }
}

void ReplicationManager::Submit(procedure::ProcedurePtr procedure) {
  submitting_ = true;
  env_.executor->SubmitAsync(std::move(procedure), {}, [this](const Result<ProcId>& pid) {
    if (!pid.ok()) RATCHET_LOG(kInfo, "Replication: {}", pid.error().ToString());
    submitting_ = false;
  });
}

}  // namespace ratchet::master
