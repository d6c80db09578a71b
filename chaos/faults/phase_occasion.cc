#include "chaos/faults/phase_occasion.h"

#include <vector>

#include <fmt/core.h>

#include "chaos/faults/victims.h"
#include "common/base/mutex.h"

namespace ratchet::chaos {
namespace {

// Tables and snapshots of earlier occasions. They are deleted when the next one begins: by then the cluster has
// recovered.
struct Leftovers {
  std::vector<TableName> tables;
  std::vector<std::string> snapshots;
  static Leftovers& OfRun() {
    static Leftovers leftovers;
    return leftovers;
  }
  // Removes the leftovers. Keeps those that cannot be removed now, for the next attempt.
  void Remove(ClusterClient& client) {
    std::erase_if(snapshots, [&](const std::string& name) { return client.snapshots().Delete(name).ok(); });
    std::erase_if(tables, [&](const TableName& table) {
      client::Admin admin = client.admin();
      IgnoreResult(admin.WaitOk(admin.DisableTable(table)), "it may be disabled");
      const Status gone = admin.WaitOk(admin.DeleteTable(table));
      return gone.ok() || gone.error().code() == Code::kNotFound;
    });
  }
};

}  // namespace

Status PhaseOccasion::Prepare(Target& target, Prng& prng) {
  RATCHET_ASSIGN(client_, ClusterClient::Open(target));
  Leftovers& leftovers = Leftovers::OfRun();
  leftovers.Remove(*client_);
  if (phase_.type == "DrainServer") return client_->RecommissionAll();
  if (!ChangesTable()) return Ok();
  TableDescriptor descriptor;
  descriptor.name = TableName("default", fmt::format("phase_{:x}", prng.Next() & 0xffffffU));
  descriptor.families.push_back(DefaultFamily("f"));
  table_ = descriptor.name;
  leftovers.tables.push_back(table_);
  client::Admin admin = client_->admin();
  return admin.WaitOk(admin.CreateTable(descriptor, {"d", "m", "t"}));
}

Result<std::string> PhaseOccasion::FirstVictim(Target& target, Prng& prng) {
  if (IsActivation()) {
    // The one that is killed is started at once, and may be the successor.
    for (const auto& name : target.Names(Role::kMaster)) logs_[name] = target.processes()->LogSize(name);
    return target.ActiveMaster();
  }
  if (!IsCrash()) return std::string();
  RATCHET_ASSIGN(std::string victim, target.MetaHolder());
  if (phase_.step != "SPLIT_META_LOG" && phase_.step != "ASSIGN_META") {
    Victims others = RunningOnes(target, Role::kRegionServer);
    std::erase(others, victim);
    if (others.empty()) return Error(Code::kUnavailable, "only the server of hbase:meta runs");
    victim = others[prng.Below(others.size())];
  }
  lost_ = target.processes()->Info(victim).serving_as;
  if (lost_.empty()) return Error(Code::kUnavailable, victim + " does not serve yet");
  return victim;
}

Result<std::uint64_t> PhaseOccasion::Submit(Target& target, Prng& prng) {
  client::Admin admin = client_->admin();
  if (phase_.type == "DrainServer") {
    RATCHET_ASSIGN(const auto servers, client_->OnlineServers());
    if (servers.size() < 2) return Error(Code::kUnavailable, "no server is online that could take the regions");
    drains_ = true;
    return client_->StartDrain(servers[prng.Below(servers.size())]);
  }
  if (phase_.type == "Snapshot") {
    Leftovers::OfRun().snapshots.push_back(table_.qualifier + "_s");
    client::Snapshots snapshots = client_->snapshots();
    return snapshots.Take(table_.qualifier + "_s", table_, {});
  }
  if (phase_.type == "ModifyTable") return admin.AddFamily(table_, DefaultFamily("g"));
  RATCHET_ASSIGN(const auto regions, admin.Regions(table_));
  if (regions.size() < 2) return Error(Code::kUnavailable, table_.ToString() + " has fewer than two regions");
  target.Meanwhile();
  if (phase_.type == "SplitTableRegion") return admin.SplitRegion(regions.front().region, "b");
  return admin.MergeRegions({regions[0].region.encoded_name(), regions[1].region.encoded_name()});
}

Status PhaseOccasion::Begin(Target& target, Prng& prng) {
  if (IsActivation() || IsCrash()) return Ok();
  RATCHET_ASSIGN(pid_, Submit(target, prng));
  return Ok();
}

Result<pb::ProcedureInfo> PhaseOccasion::FindIt() {
  if (pid_ != 0) return client_->UnfinishedOne(pid_);
  RATCHET_ASSIGN(auto crash, client_->CrashOf(lost_));
  if (!crash) return Error(Code::kNotFound, "no crash procedure of " + lost_);
  pid_ = crash->pid();
  return *std::move(crash);
}

Result<bool> PhaseOccasion::Reached(Target& target) {
  if (IsActivation()) return ReachedActivation(target);
  const auto found = FindIt();
  if (!found.ok()) {
    if (pid_ == 0) return false;  // the master has not noticed the death
    return found.error().Annotate("the phase is over");
  }
  text_ = fmt::format("pid={} {}", found->pid(), found->text());
  const auto now = PhaseOf(*found);
  return now && now->step == phase_.step;
}

// The log of a master: "activation: claim store (+12 ms)" at the beginning of a step, "... done in 3 ms" at its end.
Result<bool> PhaseOccasion::ReachedActivation(Target& target) {
  const std::string begins = fmt::format("activation: {} (+", phase_.step);
  const std::string ended = fmt::format("activation: {} done", phase_.step);
  for (const auto& [name, from] : logs_) {
    bool began = false;
    for (const std::string& line : target.processes()->LogLines(name, "activation: ", from)) {
      began = began || line.find(begins) != std::string::npos;
      if (line.find(ended) != std::string::npos) {
        return Error(Code::kNotFound, "the phase is over: " + name + " is beyond it");
      }
    }
    if (!began) continue;
    successor_ = name;
    text_ = "the activation of " + name;
    return true;
  }
  return false;
}

Status PhaseOccasion::CheckUnfinished(Target& target, bool master_is_gone) {
  if (IsActivation()) {
    const auto reached = ReachedActivation(target);
    return reached.ok() ? Ok() : Status(reached.error());
  }
  if (master_is_gone) return Ok();
  const auto found = client_->UnfinishedOne(pid_);
  return found.ok() ? Ok() : Status(found.error());
}

void PhaseOccasion::Recommission(Target& target) {
  if (!drains_) return;
  drains_ = false;
  if (auto client = ClusterClient::Open(target); client.ok())
    IgnoreResult((*client)->RecommissionAll(), "the next occasion takes it back");
}

}  // namespace ratchet::chaos
