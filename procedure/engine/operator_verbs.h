// What an operator may do to a procedure when the rules have left it stuck. Each verb is durable, with operator and
// reason, and queues behind whatever the procedure is doing (S11). None of them makes the world consistent by itself:
// after a bypass the host's reconciler has to look.
#pragma once

#include <functional>
#include <string>

#include "procedure/session/session.h"

namespace ratchet::procedure {

using VerbDone = std::function<void(Status)>;

// `pid` and its ancestors end as SUCCESS without running another step or undo; its locks are released. With `recursive`
// its unfinished descendants too, else unfinished children are a refusal. Also the way past an undo that never
// succeeds.
void BypassProcedure(Core& core, ProcId pid, bool recursive, OperatorNote note, VerbDone done);
// Nothing of it runs until Unpark. Its children go on.
void ParkProcedure(Core& core, ProcId pid, OperatorNote note, VerbDone done);
void UnparkProcedure(Core& core, ProcId pid, OperatorNote note, VerbDone done);
// It goes on with `step` instead (and is unparked); for a procedure that has no unfinished children.
void RerunProcedure(Core& core, ProcId pid, StepNo step, OperatorNote note, VerbDone done);

// The node is free: takes up the next verb. True: a commit is on its way.
[[nodiscard]] bool ApplyVerb(Session& session, ProcNode& node);
// The node is free: a bypassed procedure without unfinished children ends here. True: its commit is on its way.
[[nodiscard]] bool EndIfBypassed(Session& session, ProcNode& node);

}  // namespace ratchet::procedure
