#include "master/repair/repair_runner.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/base/part_lock.h"
#include "master/cluster/split_workers.h"
#include "master/policy/placement.h"
#include "master/procedures/core/master_env.h"
#include "master/procedures/core/schema_reader.h"
#include "master/requests/server_manager.h"
#include "procedure/api/executor.h"

namespace ratchet::master {

namespace {

constexpr std::size_t kFindingsKept = 200;

}  // namespace

std::size_t RepairRunner::Run(std::vector<Repair> repairs) {
  std::size_t done = 0;
  for (Repair& repair : repairs) {
    if (std::visit([this](auto& each) { return Do(each); }, repair)) ++done;
  }
  return done;
}

void RepairRunner::Note(Finding finding) {
  RATCHET_LOG(kWarn, "Reconciler: {}{}{}",
              finding.server.host.empty() ? "" : "server " + finding.server.ToString() + ", ",
              finding.encoded.empty() ? "" : "region " + finding.encoded + ": ", finding.what);
  const std::int64_t now_ms = env_.clock.WallMillis();
  const PartLock lock(mutex_);
  findings_.push_back({now_ms, std::move(finding.server), std::move(finding.encoded), std::move(finding.what)});
  if (findings_.size() > kFindingsKept) findings_.erase(findings_.begin());
}

std::vector<ReconcilerFinding> RepairRunner::Findings() const {
  const PartLock lock(mutex_);
  return findings_;
}

bool RepairRunner::Do(const ReleaseSlot& slot) {
  if (!env_.split_workers.Release(slot.holder)) return false;
  RATCHET_LOG(kWarn, "Reconciler: pid={} has ended with a slot for splitting a log: slot released", slot.holder);
  env_.executor->Wake(SplitWorkers::FreeEvent());
  return true;
}

bool RepairRunner::Do(const ReleaseRegion& release) {
  const auto& [node, finding] = release;
  const auto present = env_.regions.Get(node.encoded);
  if (!present || present->owner != node.owner) return false;
  env_.regions.Disown(node.encoded, node.owner);
  env_.placement.Settled(node.encoded);  // release the placement reservation
  // A split or merge was ended before its commit: hbase:meta has no row of this region, and no rows depend on it.
  if (IsBeingMade(node.state)) env_.regions.Remove(node.encoded);
  Note(finding);
  return true;
}

bool RepairRunner::Do(const ExpireServer& expire) {
  if (env_.servers.PhaseOf(expire.server)) return false;
  if (!expire.finding.what.empty()) Note(expire.finding);
  manager_.ExpireUnknown(expire.server, expire.why);
  return true;
}

bool RepairRunner::Do(SubmitProcedure& submit) {
  const std::string& key = submit.key;
  std::optional<ProcId> before;
  {
    const PartLock lock(mutex_);
    if (const auto sent = sent_.find(key); sent != sent_.end()) before = sent->second;
  }
  if (before && (!before->valid() || IsRunning(*before))) return false;
  {
    const PartLock lock(mutex_);
    const auto [sent, fresh] = sent_.try_emplace(key);
    if (!fresh && (!before || sent->second != *before)) return false;  // another thread was faster
    sent->second = ProcId();
  }
  env_.executor->SubmitAsync(std::move(submit.procedure), {"master", {}, {}}, [this, key](const Result<ProcId>& pid) {
    const PartLock lock(mutex_);
    if (pid.ok()) {
      sent_[key] = *pid;
    } else {
      sent_.erase(key);
    }
  });
  if (!submit.finding.what.empty()) Note(std::move(submit.finding));
  return true;
}

bool RepairRunner::Do(const ReadSchemas& unread) {
  if (reading_schemas_.exchange(true)) return false;
  const bool begun = env_.RunSlowWork([this, alive = std::weak_ptr(alive_), tables = unread.tables] {
    if (alive.expired()) return;
    for (const TableName& table : tables) {
      if (Status again = ReadSchemaAgain(env_, table); !again.ok()) RATCHET_LOG(kError, "{}", again.error().message());
    }
    reading_schemas_ = false;
  });
  if (!begun) reading_schemas_ = false;  // the next sweep tries again
  return begun;
}

bool RepairRunner::IsRunning(ProcId pid) const {
  return env_.executor->GetResult(pid).status == procedure::ProcedureResult::Status::kRunning;
}

void RepairRunner::ForgetEnded() {
  std::map<std::string, ProcId> sent;
  if (RATCHET_MUTANT("reconciler.ask_under_lock")) {
    const PartLock lock(mutex_);
    std::erase_if(sent_, [this](const auto& each) { return each.second.valid() && !IsRunning(each.second); });
    return;
  }
  {
    const PartLock lock(mutex_);
    sent = sent_;
  }
  std::erase_if(sent, [this](const auto& each) { return !each.second.valid() || IsRunning(each.second); });
  const PartLock lock(mutex_);
  for (const auto& [key, ended] : sent) {
    const auto found = sent_.find(key);
    if (found != sent_.end() && found->second == ended) sent_.erase(found);
  }
}

}  // namespace ratchet::master
