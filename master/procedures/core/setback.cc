#include "master/procedures/core/setback.h"

#include "master/procedures/core/data.pb.h"

namespace ratchet::master {

namespace {

std::uint32_t FailuresOf(const pb::SplitWalData& data) { return data.failures(); }
// Setback of a sweep over a table's regions: failed rounds.
template <class Sweep>
std::uint32_t FailuresOf(const Sweep& data) {
  return data.failed_rounds();
}

// Setback of a procedure whose tries have their own steps and children.
template <class Data>
std::optional<Setback> Recorded(const std::string& bytes) {
  Data data;
  if (!data.ParseFromString(bytes) || FailuresOf(data) == 0) return std::nullopt;
  return Setback{data.last_refusal(), FailuresOf(data)};
}

}  // namespace

std::optional<Setback> SetbackOf(const procedure::ProcedureInfo& info) {
  std::optional<Setback> setback;
  if (info.last_error.has_value()) setback = Setback{info.last_error->ToString(), info.attempt - 1};
  if (procedure::IsTerminal(info.state)) return setback;
  auto recorded = info.type == "CompactTable" ? Recorded<pb::CompactTableData>(info.data)
                  : info.type == "FlushTable" ? Recorded<pb::FlushTableData>(info.data)
                  : info.type == "SplitWal"   ? Recorded<pb::SplitWalData>(info.data)
                                              : std::nullopt;
  if (recorded) return recorded;
  if (info.type != "TransitRegionState") return setback;
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
