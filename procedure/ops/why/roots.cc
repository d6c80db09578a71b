#include "procedure/ops/why/roots.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "procedure/ops/why/chain.h"

namespace ratchet::host {
namespace {

namespace rpb = ::ratchet::pb;

struct Cause {
  const char* word;
  std::string text;
  std::string next;
  std::string verb;
};

rpb::WhyChain OneLink(const char* kind, std::string subject, std::string waits_for, std::optional<std::int64_t> for_ms,
                      Cause cause) {
  rpb::WhyChain chain;
  auto& link = *chain.add_link();
  link.set_kind(kind);
  link.set_subject(std::move(subject));
  if (!waits_for.empty()) link.set_waits_for(std::move(waits_for));
  if (for_ms.has_value()) link.set_for_ms(static_cast<std::uint64_t>(std::max<std::int64_t>(0, *for_ms)));
  chain.set_cause(cause.word);
  chain.set_cause_text(std::move(cause.text));
  if (!cause.next.empty()) chain.set_next(std::move(cause.next));
  if (!cause.verb.empty()) chain.set_verb(std::move(cause.verb));
  return chain;
}

rpb::WhyChain OfStandby(const WhyFacts& facts) {
  if (!facts.election_obstacle.empty()) {
    return OneLink("master", fmt::format("master {} (standby)", facts.self), "its election", std::nullopt,
                   {"STRANGER_NODE", facts.election_obstacle, "nothing, until that node is removed",
                    "remove the node with ZooKeeper's shell: zkCli.sh delete PATH"});
  }
  if (facts.active_master.empty() && !facts.refused_start.empty()) {
    return OneLink("master", fmt::format("master {} (standby)", facts.self), "its election", std::nullopt,
                   {"MASTER_REFUSED", facts.refused_start,
                    "this master is elected next, and is refused too if it sees the same root",
                    "repair what the cause names, then start the masters"});
  }
  if (facts.active_master.empty()) {
    return OneLink("master", fmt::format("master {} (standby)", facts.self), "its election", std::nullopt,
                   {"NO_ACTIVE_MASTER", "no master is active, as far as this one sees in ZooKeeper",
                    "ZooKeeper elects one as soon as it answers", "look at ZooKeeper; ratchet --zookeeper PLACES why"});
  }
  return OneLink("master", fmt::format("master {} (standby)", facts.self),
                 "the ZooKeeper node of the active master " + facts.active_master, std::nullopt,
                 {"ACTIVE_ELSEWHERE",
                  fmt::format("master {} is active", facts.active_master),
                  "this master takes over when the active master's session ends",
                  {}});
}

}  // namespace

std::optional<rpb::WhyChain> ChainOfTable(const WhyFacts& facts, const std::string& name) {
  const auto found = facts.tables.find(name);
  if (found == facts.tables.end()) return std::nullopt;
  const WhyTable& table = found->second;
  if (table.schema_awaited) {
    return OneLink("table", "table " + name, "its descriptor", std::nullopt,
                   {"DISK", table.schema_error, "it is read again every few seconds", {}});
  }
  if (!table.schema_error.empty()) {
    return OneLink(
        "table", "table " + name, "its descriptor", std::nullopt,
        {"DAMAGED_FILE", table.schema_error, "nothing, until the file is repaired",
         fmt::format("restore a valid copy of the file; or ratchet disable {0} and ratchet drop {0}", name)});
  }
  if (!table.between) return std::nullopt;
  const std::string plain = "table=" + name;
  const std::string with_namespace = "table=default:" + name;
  const bool worked_on = std::any_of(facts.procedures.begin(), facts.procedures.end(), [&](const auto& entry) {
    return entry.second.description.find(plain) != std::string::npos ||
           entry.second.description.find(with_namespace) != std::string::npos;
  });
  if (worked_on) return std::nullopt;
  return OneLink("table", fmt::format("table {}, {}", name, table.state), "a procedure that ends this state",
                 std::nullopt,
                 {"NO_PROCEDURE", fmt::format("table {} is {} and no procedure works on it", name, table.state),
                  "nothing, until an operator acts", fmt::format("ratchet enable {} (or disable)", name)});
}

void AddOwnChains(const WhyFacts& facts, const std::function<void(rpb::WhyChain)>& add) {
  if (facts.zookeeper_lost_ms) {
    add(OneLink(
        "zookeeper", fmt::format("master {}", facts.self), "its ZooKeeper session", facts.zookeeper_lost_ms,
        {"ZOOKEEPER",
         "ZooKeeper does not answer this master: no member is reached, they have no majority, or their data "
         "was set back and they refuse its session",
         "the cluster continues to serve; deaths are not noticed, and no master can take over, until it answers; "
         "a process whose session is refused for longer than the session time restarts",
         "start ZooKeeper's members; ratchet --zookeeper PLACES why shows each"}));
  }
  if (facts.role == WhyRole::kStandby) return add(OfStandby(facts));
  if (facts.role == WhyRole::kStopping) {
    return add(OneLink("master", "master " + facts.self, "its own end", std::nullopt,
                       {"STOPPING", "this master stops", "another master takes over, where there is one", {}}));
  }
  if (facts.own_storage_hangs_ms) {
    add(OneLink("master", "master " + facts.self, "its storage", facts.own_storage_hangs_ms,
                {"DISK", "the storage of this master does not answer", "it withdraws when another master can take over",
                 "look at its disk"}));
  }
  if (facts.store_full) {
    add(OneLink("master", (facts.has_servers ? "master " : "host ") + facts.self, "room for the procedure store",
                std::nullopt,
                {"SPACE", *facts.store_full,
                 "procedures that have begun continue; new ones are accepted when there is room", kMakeRoom}));
  }
  if (facts.role == WhyRole::kActivating) {
    auto chain = OneLink("master", fmt::format("master {} (starting)", facts.self), "step " + facts.step, facts.step_ms,
                         {"STARTING", "the master is starting: " + facts.step, "it is ready when this step has ended",
                          "ratchet status"});
    if (const auto meta = ChainOfRegion(facts, "1588230740"); meta && facts.step.starts_with("load meta")) {
      chain.mutable_link()->MergeFrom(meta->link());
      chain.set_cause(meta->cause());
      chain.set_cause_text(meta->cause_text());
      chain.set_next(meta->next());
      chain.set_verb(meta->verb());
    }
    add(std::move(chain));
  }
  const bool any =
      std::any_of(facts.servers.begin(), facts.servers.end(), [](const auto& entry) { return entry.second.online; });
  if (facts.has_servers && !any) {
    add(OneLink("cluster", "cluster", "a region server", std::nullopt,
                {"NO_SERVER", "no region server is alive", "nothing, until one registers",
                 "start a region server: ratchet-regionserver"}));
  }
  for (const WhyPause& pause : facts.pauses) {
    add(OneLink("cluster", "what the pause covers", "an operator", pause.age_ms,
                {"PAUSED", pause.text, "nothing, until an operator resumes it", "ratchet resume " + pause.resume}));
  }
  for (const WhyProblem& problem : facts.problems) {
    add(OneLink("cluster", "cluster", {}, problem.age_ms,
                {problem.cause.c_str(), problem.text, "nothing, until an operator acts", problem.verb}));
  }
}

}  // namespace ratchet::host
