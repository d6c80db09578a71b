#include "procedure/ops/step_tables.h"

#include <fmt/core.h>

namespace ratchet::host {

std::string StepTablesJson(const procedure::ProcedureRegistry& registry) {
  std::string text = "[";
  bool first_type = true;
  for (const auto* type : registry.Types()) {
    text += fmt::format("{}\n  {{\"type\": \"{}\", \"steps\": [", first_type ? "" : ",", type->name);
    bool first_row = true;
    for (const procedure::StepRow& row : type->rows) {
      text += fmt::format("{}\n    {{\"number\": {}, \"name\": \"{}\", \"undo\": \"{}\", \"locks\": \"{}\"}}",
                          first_row ? "" : ",", row.number, row.name, procedure::UndoKindName(row.undo),
                          procedure::LockPolicyName(row.locks));
      first_row = false;
    }
    text += "]}";
    first_type = false;
  }
  return text + "\n]\n";
}

}  // namespace ratchet::host
