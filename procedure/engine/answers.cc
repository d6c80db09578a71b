#include "procedure/engine/answers.h"

#include <utility>

#include <fmt/format.h>

namespace ratchet::procedure {

void RefuseReports(ExecutorLock& held, ProcNode& node, std::string_view why) {
  for (PendingReport& report : node.reports) {
    if (!report.done) continue;
    held.Later([done = std::move(report.done), text = fmt::format("pid {} {}", node.id.pid, why)] {
      done(Absorbed::Stale(text));
    });
  }
  node.reports.clear();
}

void RefuseVerb(ExecutorLock& held, ProcId pid, VerbRequest request) {
  held.Later([done = std::move(request.done), pid] {
    done(Error(Code::kNotFound, fmt::format("no unfinished procedure has pid {}", pid)));
  });
}

void RefuseVerbs(ExecutorLock& held, ProcNode& node) {
  for (VerbRequest& request : std::exchange(node.verbs, {})) RefuseVerb(held, node.id.pid, std::move(request));
}

void AnswerAbort(ExecutorLock& held, ProcNode& root, const Status& answer) {
  if (!root.abort) return;
  for (auto& done : root.abort->done) held.Later([done = std::move(done), answer] { done(answer); });
  root.abort.reset();
}

}  // namespace ratchet::procedure
