// The subject that a user names, and the waits that no procedure shows: of servers, regions, tables and of the master
// itself.
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/host_port.h"
#include "common/model/region_info.h"
#include "master/why/master_why.h"

namespace ratchet::master {
namespace {

namespace rpb = ::ratchet::pb;

using host::OneLink;
using host::WhyRoots;

enum class Kind : std::uint8_t { kAny, kProcedure, kTable, kRegion, kServer };

struct KindWord {
  std::string_view word;
  Kind kind;
};
constexpr std::array<KindWord, 4> kWords{
    {{"pid ", Kind::kProcedure}, {"table ", Kind::kTable}, {"region ", Kind::kRegion}, {"server ", Kind::kServer}}};

// Accepts "host,port,startcode" and "host:port".
std::vector<std::string> ServersNamed(const MasterFacts& facts, const std::string& text) {
  const auto split = SplitHostPort(text);
  const std::string address = split.has_value() ? fmt::format("{},{}", split->host, split->port) : text;
  std::vector<std::string> found;
  for (const auto& [name, server] : facts.servers) {
    if (name == text || name.starts_with(address + ",")) found.push_back(name);
  }
  return found;
}

std::vector<std::string> RegionsNamed(const MasterFacts& facts, const std::string& text) {
  const auto slash = text.rfind('/');
  std::string begin = slash == std::string::npos ? text : text.substr(slash + 1);
  if (begin.ends_with('.') && begin.size() > 33) begin = begin.substr(begin.size() - 33, 32);
  std::vector<std::string> found;
  for (auto at = facts.regions.lower_bound(begin); at != facts.regions.end() && at->first.starts_with(begin); ++at)
    found.push_back(at->first);
  return found;
}

Result<std::string> TheOne(const std::vector<std::string>& found, const std::string& text) {
  if (found.size() == 1) return found.front();
  return Error(
      Code::kInvalidArgument,
      fmt::format("'{}' may be any of {}: {}{}", text, found.size(),
                  fmt::join(found.begin(), found.begin() + std::min<std::ptrdiff_t>(5, std::ssize(found)), " "),
                  found.size() > 5 ? " ..." : ""));
}

bool IsTable(std::string_view named, const std::string& table) { return named == table || named == "default:" + table; }

bool WorksOn(const procedure::ProcedureInfo& info, const std::string& table) {
  return IsTable(info.description.Get("table"), table);
}

// True for a procedure that is about the table as a whole, or about its regions.
bool IsAbout(const procedure::ProcedureInfo& info, const std::string& table) {
  const auto fields = info.description.Fields();
  return !fields.empty() && fields.front().first == "table" && IsTable(fields.front().second, table);
}

}  // namespace

const char* WhyRoleText(WhyRole role) {
  switch (role) {
    case WhyRole::kStandby: return "standby master";
    case WhyRole::kActivating: return "starting master";
    case WhyRole::kActive: return "active master";
    case WhyRole::kStopping: return "stopping master";
  }
  return "";
}

Result<std::string> MasterWhy::RootsOf(const std::string& text, WhyRoots& roots) const {
  const bool answers_about_cluster = facts_.role == WhyRole::kActive || facts_.role == WhyRole::kActivating;
  if (!answers_about_cluster || text.empty() || text == "cluster") {
    AddCluster(roots);
    return std::string("cluster");
  }
  std::string name = text;
  Kind wanted = Kind::kAny;
  for (const KindWord& each : kWords) {
    if (!text.starts_with(each.word)) continue;
    wanted = each.kind;
    name = text.substr(each.word.size());
  }
  const auto may_be = [wanted](Kind kind) { return wanted == Kind::kAny || wanted == kind; };
  if (may_be(Kind::kProcedure)) {
    if (const auto pid = PidIn(name)) return AddPid(*pid, roots);
  }
  const std::string table = name.starts_with("default:") ? name.substr(8) : name;
  if (may_be(Kind::kTable) && facts_.tables.contains(table)) {
    AddTable(table, roots);
    return "table " + table;
  }
  Result<std::string> found =
      Error(Code::kNotFound,
            fmt::format("'{}' is not a pid, table, region or server of this cluster (ratchet procedures, tables, "
                        "regions, servers list them)",
                        text));
  Kind kind = Kind::kAny;
  if (const auto servers = ServersNamed(facts_, name); may_be(Kind::kServer) && !servers.empty()) {
    kind = Kind::kServer;
    found = TheOne(servers, name);
  } else if (may_be(Kind::kRegion) && !name.empty()) {
    if (const auto regions = RegionsNamed(facts_, name); !regions.empty()) {
      kind = Kind::kRegion;
      found = TheOne(regions, name);
    }
  }
  if (!found.ok() && facts_.meta_loaded) return found.error();
  if (!found.ok()) {
    AddCluster(roots);
    return fmt::format("cluster ('{}' is not known before the master is ready)", text);
  }
  roots.Add(kind == Kind::kServer ? ChainOfServer(*found) : ChainOfRegion(*found));
  return (kind == Kind::kServer ? "server " : "region ") + *found;
}

void MasterWhy::AddTable(const std::string& name, WhyRoots& roots) const {
  for (const auto& [pid, info] : facts_.procedures) {
    const auto parent = facts_.procedures.find(info.parent);
    const bool top = parent == facts_.procedures.end() || !IsAbout(parent->second, name);
    if (top && IsAbout(info, name)) roots.Add(ChainOfProcedure(facts_, *this, pid));
  }
  for (const auto& [encoded, region] : facts_.regions) {
    if (region.table == name && !region.served && !region.at_rest) roots.Add(ChainOfRegion(encoded));
  }
  roots.Add(ChainOfTable(name));
}

void MasterWhy::AddCluster(WhyRoots& roots) const {
  AddProcedures(roots);
  for (const auto& [name, server] : facts_.servers) {
    // A server that is not online is shown by its crash procedure.
    if (server.online || !server.crash_procedure.valid()) roots.Add(ChainOfServer(name));
  }
  for (const auto& [encoded, region] : facts_.regions) {
    const bool orphan = !region.owner.valid() && !region.served && !region.at_rest;
    if (orphan && static_cast<std::uint64_t>(std::max<std::int64_t>(0, region.since_ms)) >= host::kWhyMoment)
      roots.Add(ChainOfRegion(encoded));
  }
  for (const auto& [name, table] : facts_.tables) roots.Add(ChainOfTable(name));
  AddMaster(roots);
}

MasterWhy::Chain MasterWhy::ChainOfTable(const std::string& name) const {
  const auto found = facts_.tables.find(name);
  if (found == facts_.tables.end()) return std::nullopt;
  const WhyTable& table = found->second;
  if (table.schema_awaited) {
    return OneLink("table", "table " + name, "its descriptor", std::nullopt,
                   {WhyCause::kDisk, table.schema_error, "it is read again every few seconds"});
  }
  if (!table.schema_error.empty()) {
    return OneLink(
        "table", "table " + name, "its descriptor", std::nullopt,
        {WhyCause::kDamagedFile, table.schema_error, "nothing, until the file is repaired",
         fmt::format("restore a valid copy of the file; or ratchet disable {0} and ratchet drop {0}", name)});
  }
  if (!table.between) return std::nullopt;
  const bool worked_on = std::any_of(facts_.procedures.begin(), facts_.procedures.end(),
                                     [&name](const auto& entry) { return WorksOn(entry.second, name); });
  if (worked_on) return std::nullopt;
  return OneLink("table", fmt::format("table {}, {}", name, table.state), "a procedure that ends this state",
                 std::nullopt,
                 {WhyCause::kNoProcedure, fmt::format("table {} is {} and no procedure works on it", name, table.state),
                  "nothing, until an operator acts", fmt::format("ratchet enable {} (or disable)", name)});
}

rpb::WhyChain MasterWhy::ChainOfStandby() const {
  const std::string self = fmt::format("master {} (standby)", facts_.self);
  if (!facts_.election_obstacle.empty()) {
    return OneLink("master", self, "its election", std::nullopt,
                   {WhyCause::kStrangerNode, facts_.election_obstacle, "nothing, until that node is removed",
                    "remove the node with ZooKeeper's shell: zkCli.sh delete PATH"});
  }
  if (facts_.active_master.empty() && !facts_.refused_start.empty()) {
    return OneLink("master", self, "its election", std::nullopt,
                   {WhyCause::kMasterRefused, facts_.refused_start,
                    "this master is elected next, and is refused too if it sees the same root",
                    "repair what the cause names, then start the masters"});
  }
  if (facts_.active_master.empty()) {
    return OneLink("master", self, "its election", std::nullopt,
                   {WhyCause::kNoActiveMaster, "no master is active, as far as this one sees in ZooKeeper",
                    "ZooKeeper elects one as soon as it answers", "look at ZooKeeper; ratchet --zookeeper PLACES why"});
  }
  return OneLink("master", self, "the ZooKeeper node of the active master " + facts_.active_master, std::nullopt,
                 {WhyCause::kActiveElsewhere, fmt::format("master {} is active", facts_.active_master),
                  "this master takes over when the active master's session ends"});
}

rpb::WhyChain MasterWhy::ChainOfStart() const {
  auto chain =
      OneLink("master", fmt::format("master {} (starting)", facts_.self), "step " + facts_.step, facts_.step_ms,
              {WhyCause::kStarting, "the master is starting: " + facts_.step, "it is ready when this step has ended",
               "ratchet status"});
  const auto meta = ChainOfRegion(std::string(kMetaEncodedName));
  if (!meta || !facts_.step.starts_with("load meta")) return chain;
  chain.mutable_link()->MergeFrom(meta->link());
  chain.set_cause(meta->cause());
  chain.set_cause_text(meta->cause_text());
  chain.set_next(meta->next());
  chain.set_verb(meta->verb());
  return chain;
}

void MasterWhy::AddMaster(WhyRoots& roots) const {
  if (facts_.zookeeper_lost_ms) {
    roots.AddIfNew(OneLink(
        "zookeeper", fmt::format("master {}", facts_.self), "its ZooKeeper session", facts_.zookeeper_lost_ms,
        {WhyCause::kZooKeeper,
         "ZooKeeper does not answer this master: no member is reached, they have no majority, or their data "
         "was set back and they refuse its session",
         "the cluster continues to serve; deaths are not noticed, and no master can take over, until it answers; "
         "a process whose session is refused for longer than the session time restarts",
         "start ZooKeeper's members; ratchet --zookeeper PLACES why shows each"}));
  }
  if (facts_.role == WhyRole::kStandby) return roots.AddIfNew(ChainOfStandby());
  if (facts_.role == WhyRole::kStopping) {
    return roots.AddIfNew(
        OneLink("master", "master " + facts_.self, "its own end", std::nullopt,
                {WhyCause::kStopping, "this master stops", "another master takes over, where there is one"}));
  }
  if (facts_.own_storage_hangs_ms) {
    roots.AddIfNew(OneLink("master", "master " + facts_.self, "its storage", facts_.own_storage_hangs_ms,
                           {WhyCause::kDisk, "the storage of this master does not answer",
                            "it withdraws when another master can take over", "look at its disk"}));
  }
  AddOwn(roots);
  if (facts_.role == WhyRole::kActivating) roots.AddIfNew(ChainOfStart());
  if (!AnyOnline()) {
    roots.AddIfNew(OneLink("cluster", "cluster", "a region server", std::nullopt,
                           {WhyCause::kNoServer, "no region server is alive", "nothing, until one registers",
                            "start a region server: ratchet-regionserver"}));
  }
  for (const WhyProblem& problem : facts_.problems) {
    roots.AddIfNew(OneLink("cluster", "cluster", {}, problem.age_ms,
                           {problem.cause, problem.text, "nothing, until an operator acts", problem.verb}));
  }
}

}  // namespace ratchet::master
