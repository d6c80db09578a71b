#include "procedure/session/answers.h"

#include <utility>

#include <fmt/format.h>

namespace ratchet::procedure {

void RefuseReports(Session& session, ProcNode& node, std::string_view why) {
  for (PendingReport& report : node.reports) {
    if (!report.done) continue;
    session.Later([done = std::move(report.done), text = fmt::format("pid {} {}", node.id.pid, why)] {
      done(Absorbed::Stale(text));
    });
  }
  node.reports.clear();
}

void RefuseVerb(Session& session, ProcId pid, VerbRequest request) {
  session.Later([done = std::move(request.done), pid] {
    done(Error(Code::kNotFound, fmt::format("no unfinished procedure has pid {}", pid)));
  });
}

void RefuseVerbs(Session& session, ProcNode& node) {
  for (VerbRequest& request : std::exchange(node.verbs, {})) RefuseVerb(session, node.id.pid, std::move(request));
}

void AnswerAbort(Session& session, ProcNode& root, const Status& answer) {
  if (!root.abort) return;
  for (auto& done : root.abort->done) session.Later([done = std::move(done), answer] { done(answer); });
  root.abort.reset();
}

}  // namespace ratchet::procedure
