#include "master/page/marks.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "common/model/region_state.h"
#include "master/startup/master_logic.h"
#include "procedure/ops/held_up.h"
#include "procedure/ops/why/chain.h"

namespace ratchet::master {
namespace {

std::string Age(Millis age) { return host::WhyAge(static_cast<std::uint64_t>(std::max<std::int64_t>(0, age.count()))); }

void AddStart(const MasterGate& gate, std::vector<std::string>& out) {
  if (gate.role() != MasterRole::kActivating) return;
  const auto steps = gate.steps();
  out.push_back(fmt::format("this master is starting ({}): data that it has not read yet is missing",
                            steps.empty() ? "elected" : steps.back().name));
}

void AddMeta(MasterLogic& logic, std::vector<std::string>& out) {
  if (!logic.ready()) return;  // the start of the master is shown instead
  const auto meta = logic.regions.Get(kMetaEncodedName);
  if (!meta.has_value()) return;
  const bool open = meta->state == RegionState::kOpen && meta->location.has_value();
  if (open && logic.servers.IsOnline(*meta->location)) return;
  out.push_back("hbase:meta is offline: regions and tables are shown in their last known state");
}

}  // namespace

std::vector<std::string> Marks(const ServiceEnv& env) {
  std::vector<std::string> out;
  // A standby shows the answers of another master. If there are none, these marks may name the cause.
  if (env.gate.role() == MasterRole::kStandby) {
    for (const auto& [kind, text] : env.gate.problems()) out.push_back(text);
  }
  AddStart(env.gate, out);
  if (const auto hangs = env.own_storage_hangs ? env.own_storage_hangs() : std::nullopt) {
    out.push_back(
        fmt::format("this master's storage has not answered for {}: unwritten changes are not shown yet", Age(*hangs)));
  }
  const auto parts = env.gate.Admit(Need::kRecovered);
  if (!parts.ok()) return out;
  AddMeta(*parts->logic, out);
  if (auto low = env.pasts.LowDisk(parts->logic->servers.Online())) out.push_back(std::move(low->text));
  for (std::string& line : host::HeldUp(*parts->executor, *parts->store)) out.push_back(std::move(line));
  return out;
}

}  // namespace ratchet::master
