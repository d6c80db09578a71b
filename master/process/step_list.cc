#include "master/process/step_list.h"

#include <fmt/core.h>

#include "master/procedures/register.h"
#include "procedure/author/procedure_registry.h"

namespace ratchet::master {

std::string ListSteps(StepListFormat format) {
  procedure::ProcedureRegistry registry;
  RegisterMasterProcedures(registry);
  const bool json = format == StepListFormat::kJson;
  std::string text = json ? "[" : "";
  bool first_type = true;
  for (const auto* type : registry.Types()) {
    if (json) text += fmt::format("{}\n  {{\"type\": \"{}\", \"steps\": [", first_type ? "" : ",", type->name);
    if (!json) text += type->name + "\n";
    bool first_row = true;
    for (const procedure::StepRow& row : type->rows) {
      const std::string_view locks = procedure::LockPolicyName(row.locks);
      if (json) {
        text += fmt::format("{}\n    {{\"number\": {}, \"name\": \"{}\", \"undo\": \"{}\", \"locks\": \"{}\"}}",
                            first_row ? "" : ",", row.number, row.name, procedure::UndoKindName(row.undo), locks);
      } else {
        text += fmt::format("  {:>3} {:<28} {}{}{}\n", row.number, row.name, procedure::UndoKindName(row.undo),
                            locks.empty() ? "" : "; ", locks);
      }
      first_row = false;
    }
    if (json) text += "]}";
    first_type = false;
  }
  return text + (json ? "\n]\n" : "");
}

}  // namespace ratchet::master
