#include "master/procedures/setback.h"

#include "master/procedures/data.pb.h"

namespace ratchet::master {

std::optional<Setback> SetbackOf(const procedure::ProcedureInfo& info) {
  std::optional<Setback> setback;
  if (info.last_error.has_value()) setback = Setback{info.last_error->ToString(), info.attempt - 1};
  if (info.type != "TransitRegionState" || procedure::IsTerminal(info.state)) return setback;
  pb::TransitRegionStateData data;
  if (!data.ParseFromString(info.data) || data.failed_opens() == 0) return setback;
  return Setback{data.last_refusal(), data.failed_opens()};
}

std::optional<TreeSetback> WorstSetbackOf(const std::vector<procedure::ProcedureInfo>& tree) {
  std::optional<TreeSetback> worst;
  for (const procedure::ProcedureInfo& info : tree) {
    if (procedure::IsTerminal(info.state)) continue;
    const auto setback = SetbackOf(info);
    if (setback && (!worst || setback->times > worst->setback.times)) worst = TreeSetback{info.pid, *setback};
  }
  return worst;
}

}  // namespace ratchet::master
