#include "procedure/engine/node_record.h"

namespace ratchet::procedure {

ProcedureUpsert UpsertOf(const ProcNode& node, const Durable& durable) {
  return {node.id.pid, durable.version, EncodeRecord(node.id, durable)};
}

std::string FaultDetail(const ProcNode& node, StepNo step, bool undo) {
  const StepRow* row = node.procedure == nullptr ? nullptr : node.procedure->FindRow(step);
  std::string detail = node.id.type + ":" + (row == nullptr ? std::to_string(step) : std::string(row->name));
  if (undo) detail += ":undo";
  return detail;
}

}  // namespace ratchet::procedure
