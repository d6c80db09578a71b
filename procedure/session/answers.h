// Answers to what was asked of a procedure that takes it no more: reports, verbs, an abort.
#pragma once

#include <string_view>

#include "procedure/session/session.h"

namespace ratchet::procedure {

// What has gathered is stale: "pid 7 <why>".
void RefuseReports(Session& session, ProcNode& node, std::string_view why);
// There is no such procedure any more: kNotFound.
void RefuseVerb(Session& session, ProcId pid, VerbRequest request);
// The same for all that wait for `node`, which has come to its end.
void RefuseVerbs(Session& session, ProcNode& node);
// What was asked of a root that can take no abort any more, or needs none.
void AnswerAbort(Session& session, ProcNode& root, const Status& answer);

}  // namespace ratchet::procedure
