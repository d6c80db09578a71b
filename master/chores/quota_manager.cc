#include "master/chores/quota_manager.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/model/codec.h"
#include "master/cluster/errors.h"
#include "master/cluster/membership.h"
#include "master/cluster/quota_rows.h"
#include "master/cluster/region_directory.h"
#include "master/cluster/switches.h"
#include "master/cluster/table_directory.h"
#include "master/procedures/core/master_options.h"
#include "master/procedures/table/create_table.h"
#include "master/repair/table_comparison.h"
#include "procedure/api/executor.h"

namespace ratchet::master {
namespace {

std::uint64_t DigestOf(const hbase::pb::ThrottleList& list) {
  const std::uint64_t digest = std::hash<std::string>()(list.SerializePartialAsString());
  return digest == 0 ? 1 : digest;
}

}  // namespace

// ---- changes --------------------------------------------------------------------------------------------------------

// As in HBase: while other limits may be exceeded, the limits of servers must exist.
Status QuotaManager::AllowsChange(const hbase::pb::SetQuotaRequest& request, const Value& after) const {
  if (request.has_user_name() || request.has_table_name() || request.has_namespace_() || !request.has_region_server())
    return Ok();
  const MutexLock lock(mutex_);
  return may_exceed_ ? AllowsExceeding(after) : Ok();
}

void QuotaManager::Set(const hbase::pb::SetQuotaRequest& request, std::function<void(Status)> done) {
  auto cell = QuotaCellOf(request);
  if (!cell.ok()) return done(cell.error());
  // An invalid request is refused at once, before any wait.
  if (const auto alone = ChangedQuotas(request, Value()); !alone.ok()) return done(alone.error());
  Change change;
  change.cell = *std::move(cell);
  change.make = [this, request](const Value& stored) -> Result<Value> {
    RATCHET_ASSIGN(Value after, ChangedQuotas(request, stored));
    RATCHET_TRY(AllowsChange(request, after));
    const MutexLock lock(mutex_);
    if (after && !stored && quotas_.size() >= kMostQuotas)
      return IllegalRequest(fmt::format("limit of {} quotas reached; remove one first", quotas_.size()));
    return after;
  };
  change.done = [done = std::move(done)](const Result<Value>& before) {
    done(before.ok() ? Ok() : Status(before.error()));
  };
  Ask(std::move(change));
}

void QuotaManager::SetMayExceed(bool on, std::function<void(Result<bool>)> done) {
  Change change;
  change.cell = {std::string(kExceedRow), std::string(kQuotaQualifier), ""};
  change.make = [this, on](const Value& stored) -> Result<Value> {
    if (!on) return stored ? Value(WrittenSwitch(false)) : Value();
    Value of_servers;
    const MutexLock lock(mutex_);
    for (const hbase::pb::ThrottleOf& of : quotas_) {
      if (!of.has_user() && !of.has_table() && !of.has_namespace_())
        of_servers = "PBUF" + of.quotas().SerializeAsString();
    }
    RATCHET_TRY(AllowsExceeding(of_servers));
    return Value(WrittenSwitch(true));
  };
  change.done = [done = std::move(done)](const Result<Value>& before) {
    if (!before.ok()) return done(before.error());
    done(ReadSwitch(*before));
  };
  Ask(std::move(change));
}

void QuotaManager::Ask(Change change) {
  if (env_.quota_table == nullptr) return change.done(IllegalRequest("this master does not support quotas"));
  change.deadline = env_.clock.Now() + kPatience;
  const auto asked = std::make_shared<Change>(std::move(change));
  bool waits = false;
  {
    const MutexLock lock(mutex_);
    waits = waiting_.size() < kMostWaiting;
    if (waits) waiting_.push_back(asked);
  }
  if (!waits) return asked->done(PleaseHold("too many changes of quotas are pending; retry later"));
  Pump();
}

void QuotaManager::Pump() {
  std::shared_ptr<Change> change;
  {
    const MutexLock lock(mutex_);
    if (working_ || waiting_.empty()) return;
    working_ = true;
    change = waiting_.front();
  }
  const auto table = env_.tables.Get(QuotaTableName());
  if (table && table->state == TableState::kDisabled) return End(change, TableNotEnabled(QuotaTableName()));
  if (!table || table->state != TableState::kEnabled) {
    if (!table) MakeTable();
    return Again(change, PleaseHold("hbase:quota is being created"));
  }
  // The change is checked against the current cells, so they are read first.
  Read([this, change] { Work(change); });
}

void QuotaManager::Work(const std::shared_ptr<Change>& change) {
  bool known = false;
  {
    const MutexLock lock(mutex_);
    known = known_;
  }
  if (!known) return Again(change, PleaseHold("hbase:quota cannot be read yet"));
  env_.quota_table->Read(change->cell, [this, weak = std::weak_ptr<int>(alive_), change](Result<Value> stored) {
    if (weak.expired()) return;
    if (!stored.ok()) return Again(change, stored.error());
    Write(change, *stored);
  });
}

void QuotaManager::Write(const std::shared_ptr<Change>& change, const Value& stored) {
  Result<Value> after = change->make(stored);
  if (!after.ok()) return End(change, after.error());
  if (*after == stored) return End(change, stored);
  env_.quota_table->Swap(change->cell, stored, *std::move(after),
                         [this, weak = std::weak_ptr<int>(alive_), change, stored](const Result<bool>& swapped) {
                           if (weak.expired()) return;
                           if (!swapped.ok()) return Again(change, swapped.error());
                           if (!*swapped) return Again(change, PleaseHold("the quota was changed meanwhile"));
                           Read([this, change, stored] { End(change, stored); });
                         });
}

void QuotaManager::End(const std::shared_ptr<Change>& change, Result<Value> result) {
  {
    const MutexLock lock(mutex_);
    if (!waiting_.empty() && waiting_.front() == change) waiting_.pop_front();
    working_ = false;
  }
  change->done(std::move(result));
  Pump();
}

void QuotaManager::Again(const std::shared_ptr<Change>& change, const Error& why) {
  if (env_.clock.Now() >= change->deadline || why.code() == Code::kFenced) return End(change, why);
  const MutexLock lock(mutex_);
  working_ = false;
}

void QuotaManager::MakeTable() {
  // A table that is being created is not in memory at once.
  if (LayoutIsInHand(*env_.executor, QuotaTableName())) return;
  {
    const MutexLock lock(mutex_);
    if (std::exchange(making_, true)) return;
  }
  env_.executor->SubmitAsync(CreateTable::Make(QuotaTableDescriptor(), {}), {}, [this](const Result<ProcId>& pid) {
    if (!pid.ok()) RATCHET_LOG(kInfo, "hbase:quota: {}", pid.error().ToString());
    const MutexLock lock(mutex_);
    making_ = false;
  });
}

// ---- what is known --------------------------------------------------------------------------------------------------

// Calls `then` also after an error.
void QuotaManager::Read(std::function<void()> then) {
  env_.quota_table->ReadAll(kMostQuotas + 1,
                            [this, weak = std::weak_ptr<int>(alive_), then = std::move(then)](const auto& cells) {
                              if (weak.expired()) return;
                              if (cells.ok()) {
                                Take(*cells);
                              } else {
                                RATCHET_LOG(kDebug, "hbase:quota: {}", cells.error().ToString());
                              }
                              then();
                            });
}

void QuotaManager::Take(const std::vector<SystemCell>& cells) {
  std::vector<hbase::pb::ThrottleOf> quotas;
  std::string problem;
  bool may_exceed = false;
  bool shared = false;
  for (const SystemCell& cell : cells) {
    if (cell.row == kExceedRow) {
      may_exceed = ReadSwitch(cell.value);
      continue;
    }
    auto of = ThrottleIn(cell);
    if (!of.ok()) {
      problem = of.error().message();
    } else if (quotas.size() >= kMostQuotas) {
      problem = fmt::format("hbase:quota has more than {} quotas: those after '{}' are ignored", kMostQuotas, cell.row);
      break;
    } else {
      shared = shared || IsShared(of->quotas());
      quotas.push_back(*std::move(of));
    }
  }
  {
    const MutexLock lock(mutex_);
    if (!problem.empty() && problem != problem_) RATCHET_LOG(kWarn, "{}", problem);
    problem_ = std::move(problem);
    quotas_ = std::move(quotas);
    may_exceed_ = may_exceed;
    shared_ = shared;
    known_ = true;
    told_.reset();
    next_read_ = env_.clock.Now() + kReadAgain;
  }
  if (shared) CountShares();
}

// Computes each server's share of the regions of each table and of the cluster.
void QuotaManager::CountShares() {
  std::map<TableName, std::map<ServerName, double>> shares;
  {
    const MutexLock lock(mutex_);
    for (const hbase::pb::ThrottleOf& of : quotas_) {
      const auto table = FromProto(of.table());
      if (of.has_table() && table.ok() && IsShared(of.quotas())) shares[*table];
    }
  }
  for (auto& [table, parts] : shares) {
    const auto regions = env_.regions.OfTable(table);
    for (const RegionNode& region : regions) {
      if (region.location) parts[*region.location] += 1.0 / static_cast<double>(regions.size());
    }
  }
  const std::size_t servers = std::max<std::size_t>(1, env_.servers.Online().size());
  const MutexLock lock(mutex_);
  shares_ = std::move(shares);
  of_all_ = 1.0 / static_cast<double>(servers);
}

double QuotaManager::ShareOf(const hbase::pb::ThrottleOf& of, const ServerName& server) const {
  if (!of.has_table()) return of_all_;
  const auto table = FromProto(of.table());
  const auto parts = table.ok() ? shares_.find(*table) : shares_.end();
  if (parts == shares_.end()) return 1;
  const auto part = parts->second.find(server);
  return part == parts->second.end() ? 0 : part->second;
}

std::optional<hbase::pb::ThrottleList> QuotaManager::ListFor(const ServerName& server, std::uint64_t digest) const {
  const bool enabled = env_.switches.IsOn(Switch::kRpcThrottle);
  const MutexLock lock(mutex_);
  if (!known_ || (quotas_.empty() && digest == 0)) return std::nullopt;
  if (shared_ || !told_ || told_->enabled() != enabled) {
    hbase::pb::ThrottleList list;
    list.set_enabled(enabled);
    list.set_may_exceed(may_exceed_);
    for (const hbase::pb::ThrottleOf& of : quotas_) {
      hbase::pb::ThrottleOf& told = *list.add_throttle();
      told = of;
      if (shared_ && IsShared(of.quotas())) ReduceToShare(ShareOf(of, server), *told.mutable_quotas());
    }
    list.set_digest(DigestOf(list));
    told_ = std::move(list);
  }
  if (told_->digest() == digest) return std::nullopt;
  return told_;
}

std::string QuotaManager::problem() const {
  const MutexLock lock(mutex_);
  return problem_;
}

void QuotaManager::Tick() {
  if (!env_.meta_loaded.load() || env_.quota_table == nullptr) return;
  const bool there = env_.tables.Exists(QuotaTableName());
  if (!there && env_.options.quota_table_at_start) MakeTable();
  bool read = false;
  bool shared = false;
  if (!there) Take({});  // the table does not exist yet, or was deleted
  {
    const MutexLock lock(mutex_);
    if (!there) next_read_ = {};
    read = there && !reading_ && env_.clock.Now() >= next_read_;
    if (read) reading_ = true;
    shared = shared_;
  }
  if (shared) CountShares();
  if (read) {
    Read([this] {
      const MutexLock lock(mutex_);
      reading_ = false;
    });
  }
  Pump();
}

}  // namespace ratchet::master
