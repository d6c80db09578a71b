#include "master/process/step_list.h"

#include <fmt/core.h>

#include "master/procedures/register.h"
#include "procedure/api/procedure_registry.h"
#include "procedure/ops/step_tables.h"

namespace ratchet::master {

std::string ListSteps(StepListFormat format) {
  procedure::ProcedureRegistry registry;
  RegisterMasterProcedures(registry);
  if (format == StepListFormat::kJson) return host::StepTablesJson(registry);
  std::string text;
  for (const auto* type : registry.Types()) {
    text += type->name + "\n";
    for (const procedure::StepRow& row : type->rows) {
      const std::string_view locks = procedure::LockPolicyName(row.locks);
      text += fmt::format("  {:>3} {:<28} {}{}{}; given: {}\n", row.number, row.name, procedure::UndoKindName(row.undo),
                          locks.empty() ? "" : "; ", locks, row.given);
    }
  }
  return text;
}

}  // namespace ratchet::master
