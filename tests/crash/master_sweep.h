// The crash sweep of a master's procedures: the active master dies before and after each commit of a scenario, also
// while the next one recovers, takes up the work or goes on undoing; and every master dies after each step, so that
// every step runs twice. Whatever happens, the cluster comes to the same end, and the client hears the same.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/support/master_world/sim_cluster.h"

namespace ratchet::crash {

// One run of one scenario.
struct Rig {
  sim::SimCluster cluster;
  std::optional<Result<ProcId>> pid;     // answer to the client's request, by the present master
  std::map<std::string, bool> happened;  // the scenario's own events
  // True the first time only.
  bool Once(const std::string& event) { return !std::exchange(happened[event], true); }
  // An unfinished procedure of `type` in the state `step`; its description contains `with`.
  [[nodiscard]] std::optional<procedure::ProcedureInfo> At(const std::string& type, const std::string& step,
                                                           const std::string& with = {});
};

struct Scenario {
  std::string name;
  // Under a master that does not die. Empty: nothing, not even servers.
  std::function<void(Rig&)> prepare;
  // The client's request; asked again, with its nonce, of every new master. May be empty.
  std::function<void(Rig&, procedure::Nonce, std::function<void(Result<ProcId>)>)> request;
  // Called before every step and timer: what else happens, once, or whenever something is seen.
  std::function<void(Rig&)> poke;
  // Has what must happen happened? Empty: yes.
  std::function<bool(Rig&)> complete;
  // So many commits more than a few each of those masters gets that all die: a region that no server opens is tried
  // again by each of them, and one with a handful of commits spends them all on that.
  std::uint64_t breath = 0;
};

// "<Type>:<STATE>[:undo]" of every commit at which some master died.
struct Swept {
  std::set<std::string> before;
  std::set<std::string> after;
  std::size_t scenarios = 0;
  std::uint64_t runs = 0;
  std::uint64_t deaths = 0;
};
[[nodiscard]] Swept& AllSwept();

struct SweepResult {
  std::string calm;           // the end without a crash
  std::uint64_t commits = 0;  // of the run without a crash
  std::vector<std::string> failures;
};
[[nodiscard]] SweepResult SweepMaster(const Scenario& scenario);

}  // namespace ratchet::crash
