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

}  // namespace ratchet::master
