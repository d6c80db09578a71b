#include "tests/master_sim/admin_client.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "master/procedures/table/table_steps.h"
#include "master/requests/server_admin.h"
#include "master/requests/table_admin.h"

namespace ratchet::simulation {
namespace {

using Kind = Request::Kind;
constexpr int kTables = 3;

TableDescriptor DescriptorOf(const TableName& table) {
  TableDescriptor descriptor;
  descriptor.name = table;
  descriptor.families.push_back(DefaultFamily("f"));
  return descriptor;
}

}  // namespace

std::optional<std::string> AdminClient::AnyRegion() {
  const auto& regions = cluster_.meta().regions();
  if (regions.empty()) return std::nullopt;
  return std::next(regions.begin(), static_cast<std::ptrdiff_t>(prng_.Below(regions.size())))->first;
}

void AdminClient::Invent() {
  Request request;
  request.nonce = {1, requests_.size() + 1};
  request.table = TableName("default", fmt::format("t{}", prng_.Below(kTables)));
  request.regions = static_cast<int>(prng_.Between(1, 4));
  constexpr Kind kKinds[] = {Kind::kCreate,   Kind::kCreate, Kind::kEnable, Kind::kEnable,
                             Kind::kDisable,  Kind::kDelete, Kind::kMove,   Kind::kMove,
                             Kind::kMove,     Kind::kMove,   Kind::kReopen, Kind::kAssign,
                             Kind::kUnassign, Kind::kAlter,  Kind::kAlter,  Kind::kFlush};
  request.kind = kKinds[prng_.Below(std::size(kKinds))];
  if (request.kind == Kind::kDelete && request.nonce.nonce % 2 == 0) request.kind = Kind::kTruncate;
  if (request.kind == Kind::kFlush) MakeDrain(request);
  if (upkeep_ != nullptr && upkeep_->Takes(request, requests_)) {
    requests_.push_back(std::move(request));
    return Ask(requests_.size() - 1);
  }
  if (request.kind == Kind::kAlter) request.family = fmt::format("g{}", request.nonce.nonce);
  if (request.kind >= Kind::kMove) {
    const auto region = AnyRegion();
    if (!region) return;
    request.region = *region;
    if (reshapes_) MakeReshape(request);
    if (request.kind == Kind::kMove && prng_.Chance(1, 6)) request.region = std::string(kMetaEncodedName);
    const auto alive = cluster_.Alive();
    if (prng_.Chance(1, 2) && !alive.empty()) request.target = alive[prng_.Below(alive.size())]->name();
  }
  requests_.push_back(std::move(request));
  Ask(requests_.size() - 1);
}

// Every other reopening is a split, every other assignment a merge, every other second unassignment a truncation.
void AdminClient::MakeReshape(Request& request) const {
  if (request.nonce.nonce % 2 == 0) return;
  const auto& rows = cluster_.meta().regions();
  const master::RegionRow& row = rows.at(request.region);
  if (request.kind == Kind::kReopen) {
    request.kind = Kind::kSplit;
    request.key = row.region.start_key + static_cast<char>('0' + request.nonce.nonce % 10);
  } else if (request.kind == Kind::kUnassign && request.nonce.nonce % 4 == 1) {
    request.kind = Kind::kEmpty;
  } else if (request.kind == Kind::kAssign) {
    request.kind = Kind::kMerge;
    for (const auto& [encoded, other] : rows) {
      const bool next = other.region.table == row.region.table && other.region.start_key == row.region.end_key;
      if (next && encoded != request.region && HasItsRows(other.state)) request.neighbours = {encoded};
    }
  }
}

// One of four flushes becomes a drain, one undrains a server, and one becomes a compaction.
void AdminClient::MakeDrain(Request& request) const {
  const auto alive = cluster_.Alive();
  if (request.nonce.nonce % 4 == 0) request.kind = Kind::kCompact;
  if (request.nonce.nonce % 2 == 0 || alive.empty()) return;
  request.kind = request.nonce.nonce % 4 == 1 ? Kind::kDrain : Kind::kUndrain;
  request.target = alive[request.nonce.nonce / 4 % alive.size()]->name();
}

void AdminClient::OnNewMaster() {
  ++life_;
  if (upkeep_ != nullptr) upkeep_->OnNewMaster();
  for (Request& request : requests_) request.asked = false;
}

void AdminClient::Ask(std::size_t index) {
  if (cluster_.master().deposed()) return;
  Request& request = requests_[index];
  request.asked = true;
  sim::SimMaster& master = cluster_.master();
  const auto done = [this, index, &master, life = life_](const Result<ProcId>& pid) {
    if (life == life_) Answered(index, master, pid);
  };
  master::TableAdmin& admin = master.logic().admin;
  const master::RequestContext context{"sim", request.nonce};
  switch (request.kind) {
    case Kind::kCreate: {
      std::vector<std::string> keys;
      for (int i = 1; i < request.regions; ++i) keys.push_back(std::string(1, static_cast<char>('a' + i)));
      return admin.CreateTable(DescriptorOf(request.table), keys, context, done);
    }
    case Kind::kEnable: return admin.EnableTable(request.table, context, done);
    case Kind::kDisable: return admin.DisableTable(request.table, context, done);
    case Kind::kDelete: return admin.DeleteTable(request.table, context, done);
    case Kind::kTruncate: return admin.TruncateTable(request.table, request.regions > 1, context, done);
    case Kind::kAlter: {
      master::SchemaChange change;
      change.kind = master::ChangeKind::kAddFamily;
      change.asked.name = request.table;
      change.asked.families.push_back(DefaultFamily(request.family));
      return admin.ModifyTable(std::move(change), true, context, done);
    }
    case Kind::kFlush: return admin.FlushTable(request.table, {}, context, done);
    case Kind::kCompact: return admin.CompactTable(request.table, true, context, done);
    case Kind::kDrain: return master.logic().server_admin.DrainServer({*request.target}, context, done);
    case Kind::kUndrain: return master.logic().server_admin.Recommission(*request.target, {}, context, done);
    case Kind::kSplit: return admin.SplitRegion(request.region, request.key, context, done);
    case Kind::kMerge: {
      std::vector<std::string> regions = request.neighbours;
      regions.push_back(request.region);
      return admin.MergeRegions(regions, context, done);
    }
    case Kind::kEmpty: return admin.TruncateRegion(request.region, context, done);
    case Kind::kMove: return admin.MoveRegion(request.region, {request.target}, context, done);
    case Kind::kReopen: return admin.ReopenRegion(request.region, context, done);
    case Kind::kAssign: return admin.AssignRegion(request.region, context, done);
    case Kind::kUnassign: return admin.UnassignRegion(request.region, context, done);
    default: return Upkeep::Ask(master, request, context, done);
  }
}

void AdminClient::Answered(std::size_t index, sim::SimMaster& by, const Result<ProcId>& pid) {
  Request& request = requests_[index];
  request.asked = false;
  if (pid.ok()) {
    if (request.pid.valid() && request.pid != *pid) {
      cluster_.Violation(
          fmt::format("nonce {} was answered with pid {} and pid {}", request.nonce.nonce, request.pid, *pid));
    }
    request.pid = *pid;
    if (const auto info = by.executor().Get(*pid); info) request.restores = info->type == "RestoreSnapshot";
    return;
  }
  const Code code = pid.error().code();
  if (by.deposed() || code == Code::kUnavailable || code == Code::kFenced) return;  // the next master is asked
  if (request.pid.valid()) {
    cluster_.Violation(
        fmt::format("pid {} was accepted, its repetition is refused: {}", request.pid, pid.error().ToString()));
  }
  request.refused = true;
}

void AdminClient::Look() {
  sim::SimMaster& master = cluster_.master();
  if (!master.ready() || master.deposed()) return;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    Request& request = requests_[i];
    if (request.refused) continue;
    // A client sometimes repeats a request although it has an answer.
    if (!request.asked && (!request.pid.valid() || prng_.Chance(1, 50))) Ask(i);
    if (!request.pid.valid() || master.deposed()) continue;
    const procedure::ProcedureResult result = master.executor().GetResult(request.pid);
    if (result.status == procedure::ProcedureResult::Status::kNotFound) {
      cluster_.Violation(fmt::format("pid {} is forgotten", request.pid));
      continue;
    }
    if (!result.finished()) {
      if (request.end) cluster_.Violation(fmt::format("pid {} had ended, and is running again", request.pid));
      continue;
    }
    const std::string end = result.error ? result.error->ToString() : "success";
    if (request.end && *request.end != end) {
      cluster_.Violation(fmt::format("pid {} ended as '{}' and as '{}'", request.pid, *request.end, end));
    }
    request.end = end;
    request.result = result.result;
  }
}

// A DisableTable whose table was taken over by another DisableTable or by DeleteTable has not disabled the table,
// unless the other procedure was undone.
bool AdminClient::LeftToAnother(const Request& disable) const {
  const auto at = disable.result.rfind("pid=");
  if (!disable.result.starts_with(master::kTakenOver) || at == std::string::npos)
    return disable.result.starts_with(master::kTakenOver);
  const std::string by = disable.result.substr(at + 4);
  for (const Request& other : requests_) {
    if (fmt::format("{}", other.pid) == by) return other.succeeded();
  }
  return true;
}

bool AdminClient::AllOver() const {
  return std::all_of(requests_.begin(), requests_.end(), [](const Request& request) { return request.over(); });
}

std::map<TableName, TableCount> AdminClient::Count() const {
  std::map<TableName, TableCount> counts;
  for (const Request& request : requests_) {
    if (!request.succeeded()) continue;
    TableCount& count = counts[request.table];
    switch (request.kind) {
      case Kind::kCreate: ++count.created; break;
      case Kind::kEnable: ++count.enabled; break;
      case Kind::kTruncate: ++count.enabled; break;
      case Kind::kPutBack: count.created += request.restores ? 0 : 1; break;
      case Kind::kDisable: count.disabled += LeftToAnother(request) ? 0 : 1; break;
      case Kind::kDelete:
        ++count.deleted;
        if (request.result == master::kDisabledFirst) ++count.disabled;
        break;
      default: break;
    }
  }
  return counts;
}

std::set<TableName> AdminClient::TablesOf(const std::set<ProcId>& pids) const {
  std::set<TableName> tables;
  for (const Request& request : requests_) {
    const bool of_table = request.kind < Kind::kDrain || request.kind == Kind::kPutBack;
    if (request.pid.valid() && of_table && pids.contains(request.pid)) tables.insert(request.table);
  }
  return tables;
}

std::set<std::string> AdminClient::AskedToClose() const {
  std::set<std::string> regions;
  for (const Request& request : requests_) {
    if (request.kind == Kind::kUnassign && request.pid.valid()) regions.insert(request.region);
  }
  return regions;
}

bool AdminClient::AnyReshapeOf(const std::set<ProcId>& bypassed) const {
  return std::any_of(requests_.begin(), requests_.end(), [&bypassed](const Request& request) {
    const bool reshape = request.kind >= Kind::kSplit && request.kind <= Kind::kEmpty;
    return reshape && request.pid.valid() && bypassed.contains(request.pid);
  });
}

}  // namespace ratchet::simulation
