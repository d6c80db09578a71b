#include "procedure/ops/step_tables.h"

#include "common/base/json_writer.h"

namespace ratchet::host {

std::string StepTablesJson(const procedure::ProcedureRegistry& registry) {
  JsonWriter json;
  json.BeginArray();
  for (const auto* type : registry.Types()) {
    json.BeginObject().Add("type", type->name).Key("steps").BeginArray();
    for (const procedure::StepRow& row : type->rows) {
      json.BeginObject().Add("number", row.number).Add("name", row.name);
      json.Add("undo", procedure::UndoKindName(row.undo)).Add("locks", procedure::LockPolicyName(row.locks));
      json.Add("given", row.given);
      json.EndObject();
    }
    json.EndArray().EndObject();
  }
  return json.EndArray().text() + "\n";
}

}  // namespace ratchet::host
