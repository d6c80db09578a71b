// A host's view of every procedure's beginning and end.
#pragma once

#include "procedure/record/inspect.h"

namespace ratchet::procedure {

// Told about every procedure after the commit that made it true, one at a time and in that order. See the executor's
// comment.
class ProcedureListener {
 public:
  virtual ~ProcedureListener() = default;
  virtual void OnAdded(const ProcedureInfo& /*info*/) {}  // submitted, spawned or loaded
  // Final state reached; a member of an undone tree has one, too. With its steps (`history`): the procedure may be
  // gone.
  virtual void OnFinished(const ProcedureInfo& /*info*/) {}
};

}  // namespace ratchet::procedure
