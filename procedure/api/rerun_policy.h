// Decides to which state an operator may send a procedure, S82 (rerun skips no state): to its current state, or to an
// earlier row of the step table. A type that allows something else also derives from one of these classes. Called after
// Procedure::CheckBypass, under the same conditions.
#pragma once

#include "common/base/result.h"
#include "procedure/api/step_table.h"

namespace ratchet::procedure {

class Procedure;

class RerunPolicy {
 public:
  // Both states are in the table.
  [[nodiscard]] virtual Status CheckRerun(StepNo from, StepNo to) const = 0;

 protected:
  ~RerunPolicy() = default;
};

// For types whose states have no linear order: allows only the current state and the first one, which looks at the
// cluster and continues from there.
class FromTheBeginning : public RerunPolicy {
 public:
  [[nodiscard]] Status CheckRerun(StepNo from, StepNo to) const override;

 protected:
  ~FromTheBeginning() = default;
};

// For types with a state after which the earlier ones must never run again: allows only the current state.
class PresentStateOnly : public RerunPolicy {
 public:
  [[nodiscard]] Status CheckRerun(StepNo from, StepNo to) const override;

 protected:
  ~PresentStateOnly() = default;
};

// For types whose states do not depend on each other.
class FromAnywhere : public RerunPolicy {
 public:
  [[nodiscard]] Status CheckRerun(StepNo from, StepNo to) const override;

 protected:
  ~FromAnywhere() = default;
};

// Applies the procedure's policy. kFailedPrecondition gives the reason of the refusal.
[[nodiscard]] Status CheckRerun(const Procedure& procedure, StepNo from, StepNo to);

}  // namespace ratchet::procedure
