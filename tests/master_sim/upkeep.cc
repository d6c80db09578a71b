#include "tests/master_sim/upkeep.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/model/proto/snapshot.pb.h"
#include "master/chores/replication_manager.h"
#include "master/cluster/namespace_directory.h"
#include "master/cluster/peer_directory.h"
#include "master/cluster/snapshot_book.h"
#include "master/requests/namespace_admin.h"
#include "master/requests/peer_admin.h"
#include "master/requests/server_manager.h"
#include "master/requests/snapshot_admin.h"
#include "master/requests/switch_admin.h"

namespace ratchet::simulation {
namespace {

using Kind = Request::Kind;
constexpr int kNames = 2;  // number of names of namespaces and of peers

hbase::pb::ReplicationPeer PeerAt(const std::string& host, std::uint64_t bandwidth) {
  hbase::pb::ReplicationPeer peer;
  peer.set_clusterkey(host + ":2181:/hbase");
  peer.set_replicate_all(true);
  peer.set_bandwidth(bandwidth);
  return peer;
}

// Counts successful requests. If one of the requests for a name was bypassed, the state of the name is unknown.
struct Count {
  int made = 0;
  int gone = 0;
  bool meddled = false;
};

void CountIn(std::map<std::string, Count>& counts, const Request& request, const std::set<ProcId>& bypassed) {
  Count& count = counts[request.key];
  count.meddled = count.meddled || (request.pid.valid() && bypassed.contains(request.pid));
  if (!request.succeeded()) return;
  const bool makes = request.kind == Kind::kMakeNamespace || request.kind == Kind::kAddPeer;
  const bool removes = request.kind == Kind::kDropNamespace || request.kind == Kind::kRemovePeer;
  count.made += makes ? 1 : 0;
  count.gone += removes ? 1 : 0;
}

}  // namespace

namespace {

// Returns true for kinds that make a snapshot with the name Request::key.
bool MakesASnapshot(const Request& request) { return request.kind == Kind::kSnapshot || request.kind == Kind::kImport; }

}  // namespace

bool Upkeep::Takes(Request& request, const std::deque<Request>& earlier) {
  if (!prng_.Chance(1, 4)) {
    if (request.kind < Kind::kDrain && prng_.Chance(1, 5))
      request.table = TableName(fmt::format("n{}", prng_.Below(kNames)), "t");
    return false;
  }
  constexpr Kind kKinds[] = {Kind::kSnapshot,        Kind::kSnapshot,      Kind::kSnapshot,      Kind::kPutBack,
                             Kind::kPutBack,         Kind::kPutBack,       Kind::kMakeNamespace, Kind::kMakeNamespace,
                             Kind::kChangeNamespace, Kind::kDropNamespace, Kind::kAddPeer,       Kind::kAddPeer,
                             Kind::kUpdatePeer,      Kind::kEnablePeer,    Kind::kDisablePeer,   Kind::kRemovePeer};
  request.kind = kKinds[prng_.Below(std::size(kKinds))];
  if (request.kind == Kind::kSnapshot) {
    request.key = fmt::format("s{}", request.nonce.nonce);
    return true;
  }
  if (request.kind != Kind::kPutBack) {
    const char* prefix = request.kind >= Kind::kAddPeer ? "p" : "n";
    request.key = fmt::format("{}{}", prefix, prng_.Below(kNames));
    return true;
  }
  std::vector<const Request*> taken;
  for (const Request& other : earlier) {
    if (MakesASnapshot(other) && !other.refused) taken.push_back(&other);
  }
  if (taken.empty()) {
    request.kind = Kind::kSnapshot;
    request.key = fmt::format("s{}", request.nonce.nonce);
    return true;
  }
  const Request& source = *taken[prng_.Below(taken.size())];
  request.key = source.key;
  request.table = prng_.Chance(1, 2) ? source.table : request.table;
  request.place = "/exports/" + source.key;
  const std::uint64_t of_three = prng_.Below(3);
  if (of_three == 1) request.kind = Kind::kExport;
  if (of_three == 2) {
    request.kind = Kind::kImport;
    request.key = fmt::format("i{}", request.nonce.nonce);
  }
  return true;
}

void Upkeep::Ask(sim::SimMaster& master, const Request& request, const master::RequestContext& context,
                 const master::TableAdmin::Done& done) {
  master::MasterLogic& logic = master.logic();
  using Change = master::PeerChange;
  switch (request.kind) {
    case Kind::kSnapshot: {
      hbase::pb::SnapshotDescription description;
      description.set_name(request.key);
      description.set_table(request.table.ToString());
      return logic.snapshot_admin.TakeSnapshot(std::move(description), context, done);
    }
    case Kind::kPutBack: return logic.snapshot_admin.PutBack(request.key, request.table, context, done);
    case Kind::kExport: return logic.snapshot_admin.Export(request.key, request.place, context, done);
    case Kind::kImport: return logic.snapshot_admin.Import(request.place, request.key, context, done);
    case Kind::kMakeNamespace: return logic.namespace_admin.Create({request.key, {}}, context, done);
    case Kind::kChangeNamespace:
      return logic.namespace_admin.Modify({request.key, {{"change", fmt::format("{}", request.nonce.nonce)}}}, context,
                                          done);
    case Kind::kDropNamespace: return logic.namespace_admin.Delete(request.key, context, done);
    case Kind::kAddPeer:
      return logic.peer_admin.Add(request.key, PeerAt("elsewhere", 1), request.nonce.nonce % 3 != 0, context, done);
    case Kind::kUpdatePeer:
      return logic.peer_admin.Update(request.key, PeerAt("elsewhere", request.nonce.nonce), context, done);
    case Kind::kEnablePeer: return logic.peer_admin.Change(Change::kEnable, request.key, context, done);
    case Kind::kDisablePeer: return logic.peer_admin.Change(Change::kDisable, request.key, context, done);
    default: return logic.peer_admin.Change(Change::kRemove, request.key, context, done);
  }
}

void Upkeep::Act(const std::deque<Request>& requests) {
  sim::SimMaster& master = cluster_.master();
  if (!master.ready() || master.deposed()) return;
  switch (prng_.Below(12)) {
    case 0: return master.logic().balancer.Tick();
    case 1: return Tick();
    case 2:
    case 3: return Ship();
    case 4: {
      if (requests.empty()) return;
      const Request& any = requests[prng_.Below(requests.size())];
      if (MakesASnapshot(any)) DeleteSnapshot(any.key);
      return;
    }
    case 5: {
      const master::Switch which = master::kSwitches[prng_.Below(master::kSwitches.size())];
      // Switches return to their defaults soon, because most requests need them.
      const bool on = prng_.Chance(2, 3) == master::DefaultOf(which);
      return Set(which, on, prng_.Chance(1, 3));
    }
    default: return;
  }
}

// Compares with the live servers, as the shell does periodically.
void Upkeep::CompareWithLiveServers() {
  master::MasterLogic& logic = cluster_.master().logic();
  for (const ServerName& server : logic.servers.Online()) {
    if (!cluster_.live().contains(server)) logic.server_manager.Expire(server, "it is not registered in ZooKeeper");
  }
}

void Upkeep::Tick() {
  CompareWithLiveServers();
  cluster_.master().logic().snapshot_admin.CleanUp();
  cluster_.master().logic().replication_manager.Tick();
}

// Reports, for the claimer, that all logs of a dead server are shipped.
void Upkeep::Ship() {
  master::MasterLogic& logic = cluster_.master().logic();
  for (const auto& queue : logic.peers.Queues()) {
    const auto claimer = ServerName::Parse(queue.claimer());
    const sim::SimServer* server = claimer.ok() ? cluster_.Find(*claimer) : nullptr;
    if (server == nullptr || !server->alive()) continue;
    hbase::pb::ReplicationProgress progress;
    progress.set_server(queue.server());
    progress.set_finished(true);
    logic.peers.PutProgress(*claimer, {progress});
  }
  logic.replication_manager.Tick();
}

void Upkeep::DeleteSnapshot(const std::string& name) {
  deleted_.insert(name);
  cluster_.Trace("delete snapshot " + name);
  cluster_.master().logic().snapshot_admin.Delete(name, [](const Status& /*deleted*/) {});  // may be gone
}

void Upkeep::Set(master::Switch which, bool on, bool and_wait) {
  Setting& setting = settings_[which];
  setting.as_set.reset();
  ++setting.open;
  const std::uint64_t turn = ++setting.asked;
  cluster_.Trace(fmt::format("switch {} {}", master::SwitchName(which), on ? "on" : "off"));
  cluster_.master().logic().switch_admin.Set(
      {{which}, on, and_wait, {"sim", {}}},
      [&setting, on, turn, life = life_, this](const Result<std::vector<bool>>& before) {
        if (life != life_) return;  // the outcome is unknown
        --setting.open;
        // A procedure that operators ended does not return the previous value. Requests that were open together may be
        // executed in any order, for example because an operator parked the first one.
        const bool last = setting.asked == turn && setting.open == 0;
        if (before.ok() && !before->empty()) setting.as_set = last ? std::optional(on) : std::nullopt;
      });
}

void Upkeep::GoHome() {
  sim::SimMaster& master = cluster_.master();
  if (!master.ready() || master.deposed()) return;
  for (const master::Switch which : master::kSwitches) {
    if (master.logic().switches.IsOn(which) != master::DefaultOf(which)) Set(which, master::DefaultOf(which), false);
  }
  Tick();
  Ship();
}

bool Upkeep::AtRest() { return cluster_.master().logic().peers.Queues().empty(); }

void Upkeep::CheckEnd(const std::deque<Request>& requests, const std::set<ProcId>& bypassed) {
  CheckSnapshots(requests, bypassed);
  CheckImports(requests);
  CheckCounts(requests, bypassed);
  CheckServers();
  for (const auto& [which, setting] : settings_) {
    if (!setting.as_set || setting.open > 0) continue;  // an earlier request may be executed after the last one
    if (*setting.as_set != cluster_.master().logic().switches.IsOn(which))
      cluster_.Violation(
          fmt::format("switch {} was set {}", master::SwitchName(which), *setting.as_set ? "on" : "off"));
  }
}

// Checks that imports have all exported data.
void Upkeep::CheckImports(const std::deque<Request>& requests) {
  const auto& storage = cluster_.storage();
  for (const auto& [directory, files] : storage.snapshots) {
    if (!files.files.contains(master::kSnapshotComplete)) continue;
    const std::string name = master::SnapshotNameIn(directory);
    const auto import = std::find_if(requests.begin(), requests.end(), [&name](const Request& request) {
      return request.kind == Kind::kImport && request.key == name;
    });
    if (import == requests.end()) continue;
    const auto exported = storage.exports.find(import->place);
    if (exported == storage.exports.end() || files.regions != exported->second.regions ||
        files.copies != exported->second.copies)
      cluster_.Violation("snapshot " + name + " is not what was exported to " + import->place);
  }
}

// Checks that a successful snapshot exists until its deletion is requested, and that a failed one leaves nothing.
void Upkeep::CheckSnapshots(const std::deque<Request>& requests, const std::set<ProcId>& bypassed) {
  std::map<std::string, bool> complete;  // by name
  for (const auto& [directory, files] : cluster_.storage().snapshots) {
    const bool whole = files.files.contains(master::kSnapshotComplete);
    if (!whole) cluster_.Violation("snapshot directory " + directory + " is left, and not complete");
    complete.emplace(master::SnapshotNameIn(directory), whole);
  }
  for (const Request& request : requests) {
    if (!MakesASnapshot(request) || (request.pid.valid() && bypassed.contains(request.pid))) continue;
    const bool there = complete.contains(request.key);
    if (request.succeeded() && !there && !deleted_.contains(request.key))
      cluster_.Violation("snapshot " + request.key + " is lost");
    if (!request.succeeded() && there)
      cluster_.Violation(fmt::format("snapshot {} is there, and its request {}", request.key,
                                     request.refused ? "was refused" : "failed"));
  }
}

void Upkeep::CheckCounts(const std::deque<Request>& requests, const std::set<ProcId>& bypassed) {
  std::map<std::string, Count> namespaces;
  std::map<std::string, Count> peers;
  for (const Request& request : requests) {
    if (request.kind >= Kind::kMakeNamespace && request.kind <= Kind::kDropNamespace)
      CountIn(namespaces, request, bypassed);
    if (request.kind >= Kind::kAddPeer) CountIn(peers, request, bypassed);
  }
  master::MasterLogic& logic = cluster_.master().logic();
  const auto judge = [this](const char* what, const std::string& name, const Count& count, bool there) {
    if (count.meddled || count.made - count.gone == (there ? 1 : 0)) return;
    cluster_.Violation(fmt::format("{} {} was made {} times, removed {} times, and is {}", what, name, count.made,
                                   count.gone, there ? "there" : "not there"));
  };
  for (const auto& [name, count] : namespaces) judge("namespace", name, count, logic.namespaces.Get(name).has_value());
  for (const auto& [id, count] : peers) judge("peer", id, count, logic.peers.Get(id).has_value());
}

// Checks that every server knows the peers, and that no dead server's logs are kept for them.
void Upkeep::CheckServers() {
  const std::size_t peers = cluster_.master().logic().peers.size();
  for (const sim::SimServer* server : cluster_.Alive()) {
    if (!server->registered || static_cast<std::size_t>(server->peers.peer_size()) == peers) continue;
    cluster_.Violation(
        fmt::format("{} knows {} peers of {}", server->name().ToString(), server->peers.peer_size(), peers));
  }
  for (const std::string& name : cluster_.storage().archived) {
    if (name.starts_with("oldWALs/")) cluster_.Violation(name + " is kept, and shipped");
  }
}

}  // namespace ratchet::simulation
