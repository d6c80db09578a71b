#include "procedure/api/rerun_policy.h"

#include <fmt/format.h>

#include "procedure/api/procedure.h"

namespace ratchet::procedure {

Status FromTheBeginning::CheckRerun(StepNo from, StepNo to) const {
  constexpr StepNo kFirst = 1;
  if (to == from || to == kFirst) return Ok();
  return Error(Code::kFailedPrecondition, "only its current state and its first one may be run again");
}

Status PresentStateOnly::CheckRerun(StepNo from, StepNo to) const {
  if (to == from) return Ok();
  return Error(Code::kFailedPrecondition, "only its current state may be run again");
}

Status FromAnywhere::CheckRerun(StepNo /*from*/, StepNo /*to*/) const { return Ok(); }

Status CheckRerun(const Procedure& procedure, StepNo from, StepNo to) {
  if (const auto* policy = dynamic_cast<const RerunPolicy*>(&procedure)) return policy->CheckRerun(from, to);
  for (const StepRow& row : procedure.rows()) {  // whichever row is first in the table
    if (row.number == to) return Ok();
    if (row.number == from) break;
  }
  return Error(Code::kFailedPrecondition,
               fmt::format("{} must not skip states: it may run its current state or an earlier one again",
                           procedure.type_name()));
}

}  // namespace ratchet::procedure
