// Where an operator may send a procedure (S82): again to its present state, or back to one that stands before it in the
// step table. A type that allows something else derives from one of these, too. Asked after Procedure::CheckBypass,
// under its terms.
#pragma once

#include "common/base/result.h"
#include "procedure/author/step_table.h"

namespace ratchet::procedure {

class Procedure;

class RerunPolicy {
 public:
  // Both states are in the table.
  [[nodiscard]] virtual Status CheckRerun(StepNo from, StepNo to) const = 0;

 protected:
  ~RerunPolicy() = default;
};

// For types whose states are no line: only the present one, and the first, which looks at what there is and goes on
// from that.
class FromTheBeginning : public RerunPolicy {
 public:
  [[nodiscard]] Status CheckRerun(StepNo from, StepNo to) const override;

 protected:
  ~FromTheBeginning() = default;
};

// For types with a state behind which the ones before it must never run again: only the present one.
class PresentStateOnly : public RerunPolicy {
 public:
  [[nodiscard]] Status CheckRerun(StepNo from, StepNo to) const override;

 protected:
  ~PresentStateOnly() = default;
};

// For types of which each state stands for itself.
class FromAnywhere : public RerunPolicy {
 public:
  [[nodiscard]] Status CheckRerun(StepNo from, StepNo to) const override;

 protected:
  ~FromAnywhere() = default;
};

// By the procedure's policy. kFailedPrecondition says why not.
[[nodiscard]] Status CheckRerun(const Procedure& procedure, StepNo from, StepNo to);

}  // namespace ratchet::procedure
