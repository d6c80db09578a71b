// The crash sweep of a master's procedures: the active master dies before and after each commit of a scenario, also
// while the next one recovers, resumes the work or continues the undo. In another run every master dies after each
// step, so that every step runs twice. In all cases the cluster reaches the same final state, and the client gets the
// same result.
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
  std::optional<Result<ProcId>> pid;     // answer of the current master to the client's request
  std::map<std::string, bool> happened;  // the scenario's own events
  // Returns true only the first time.
  bool Once(const std::string& event) { return !std::exchange(happened[event], true); }
  // An unfinished procedure of `type` in the state `step`; its description contains `with`.
  [[nodiscard]] std::optional<procedure::ProcedureInfo> At(const std::string& type, const std::string& step,
                                                           const std::string& with = {});
};

struct Scenario {
  std::string name;
  // Prepares the cluster under a master that does not die. If empty, there are no servers either.
  std::function<void(Rig&)> prepare;
  // Sends the client's request; repeated, with its nonce, at every new master. May be empty.
  std::function<void(Rig&, procedure::Nonce, std::function<void(Result<ProcId>)>)> request;
  // Called before every step and timer, for other events of the scenario.
  std::function<void(Rig&)> poke;
  // Returns true if all required events have happened; empty means true.
  std::function<bool(Rig&)> complete;
  // Additional commits for each master in runs where every master dies. Each master retries a region that no server
  // opens, and would otherwise spend its few commits on that.
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
  std::string calm;           // final state without a crash
  std::uint64_t commits = 0;  // number of commits without a crash
  std::vector<std::string> failures;
};
[[nodiscard]] SweepResult SweepMaster(const Scenario& scenario);

}  // namespace ratchet::crash
