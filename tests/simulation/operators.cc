#include "tests/simulation/operators.h"

#include <vector>

#include <fmt/format.h>

namespace ratchet::simulation {

using procedure::ProcedureInfo;

namespace {

const procedure::OperatorNote kNote{"sim", "chance"};

}  // namespace

void Operators::Bypass(const ProcedureInfo& info) {
  const bool recursive = prng_.Chance(1, 2);
  cluster_.master().executor().Bypass(info.pid, recursive, kNote, [](const Status&) {});
  // Counted when it is asked for: a master that dies may have recorded it without saying so. A parent goes with its child.
  bypassed_.insert(info.root);
  cluster_.Trace(fmt::format("bypass pid={} {}:{}{}", info.pid, info.type, info.step_name, recursive ? " recursive" : ""));
}

void Operators::Act() {
  sim::SimMaster& master = cluster_.master();
  if (master.dead() || master.deposed()) return;
  std::vector<ProcedureInfo> unfinished;
  for (ProcedureInfo& info : master.executor().List()) {
    if (!procedure::IsTerminal(info.state)) unfinished.push_back(std::move(info));
  }
  if (unfinished.empty()) return;
  ++verbs_;
  Bypass(unfinished[prng_.Below(unfinished.size())]);
}

}  // namespace ratchet::simulation
