#include "master/service/marks.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "common/model/region_state.h"
#include "master/control/master_logic.h"
#include "procedure/host/service/held_up.h"
#include "procedure/host/why/chain.h"

namespace ratchet::master {
namespace {

std::string Age(Millis age) { return host::WhyAge(static_cast<std::uint64_t>(std::max<std::int64_t>(0, age.count()))); }

void AddStart(const MasterGate& gate, std::vector<std::string>& out) {
  if (gate.role() != MasterRole::kActivating) return;
  const auto steps = gate.steps();
  out.push_back(fmt::format("this master is starting ({}): what it has not read yet is missing",
                            steps.empty() ? "elected" : steps.back().name));
}

void AddMeta(MasterLogic& logic, std::vector<std::string>& out) {
  if (!logic.ready()) return;  // its start says it
  const auto meta = logic.regions().Get(kMetaEncodedName);
  if (!meta.has_value()) return;
  const bool open = meta->state == RegionState::kOpen && meta->location.has_value();
  if (open && logic.servers().IsOnline(*meta->location)) return;
  out.push_back("hbase:meta is away: regions and tables are shown as this master last knew them");
}

}  // namespace

std::vector<std::string> Marks(const ServiceEnv& env) {
  std::vector<std::string> out;
  AddStart(env.gate, out);
  if (const auto hangs = env.own_storage_hangs ? env.own_storage_hangs() : std::nullopt) {
    out.push_back(fmt::format(
        "this master's storage has not answered for {}: what waits to be written is not shown yet", Age(*hangs)));
  }
  const auto parts = env.gate.Admit(Need::kRecovered);
  if (!parts.ok()) return out;
  AddMeta(*parts->logic, out);
  if (auto low = env.pasts.LowDisk(parts->logic->servers().Online())) out.push_back(std::move(low->text));
  for (std::string& line : host::HeldUp(*parts->executor, *parts->store)) out.push_back(std::move(line));
  return out;
}

}  // namespace ratchet::master
