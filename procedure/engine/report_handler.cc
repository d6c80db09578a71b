#include "procedure/engine/report_handler.h"

#include <exception>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/mutant.h"
#include "procedure/record/identity.h"
#include "procedure/session/answers.h"
#include "procedure/session/node_commit.h"
#include "procedure/session/waiting.h"

namespace ratchet::procedure {
namespace {

struct Fold {
  ProcedurePtr copy;
  std::vector<PendingReport> reports;
  std::vector<Result<Absorbed>> answers;
  bool taken = false;
};

// In the order of a report.
void RunFold(Core& core, ProcNode& node, const std::shared_ptr<Fold>& fold);
Result<Absorbed> AbsorbOne(Procedure& copy, const std::string& message);
void Answer(Session& session, Fold& fold);

}  // namespace

void Deliver(Core& core, ProcId pid, std::string message, std::function<void(Result<Absorbed>)> done) {
  Session session(core);
  if (session->halted || session->stopping) {
    session.Later([done = std::move(done)] { done(Error(Code::kUnavailable, "the executor has stopped")); });
    return;
  }
  ProcNode* node = session->tree.Find(pid);
  if (node == nullptr || IsTerminal(node->durable.state) || node->procedure == nullptr) {
    session.Later([done = std::move(done), pid] {
      done(Error(Code::kNotFound, fmt::format("no unfinished procedure has pid {}", pid)));
    });
    return;
  }
  node->reports.push_back({std::move(message), std::move(done)});
  if (IsBusy(node->phase)) return;  // found when it is free
  if (node->root->tree.failing) {   // whatever its turn is, the report does not change it
    RefuseReports(session, *node, "is being undone");
    return;
  }
  session.Ready(*node);
}

void StartFold(Session& session, ProcNode& node) {
  auto fold = std::make_shared<Fold>();
  fold->reports = std::exchange(node.reports, {});
  fold->copy = MakeFromRecord(session.core().deps.registry, node.id, node.durable.data);
  RATCHET_CHECK(fold->copy != nullptr, "pid {} cannot read its own data", node.id.pid);
  ProcedureTree::SetPhase(node, Phase::kRunning);
  session.Later([&core = session.core(), &node, fold] { RunFold(core, node, fold); });
}

namespace {

// On the thread that ended the session of StartFold; the node is busy, so its object is ours.
void RunFold(Core& core, ProcNode& node, const std::shared_ptr<Fold>& fold) {
  for (const PendingReport& report : fold->reports) {
    // A report that is refused or that throws must leave nothing behind.
    const std::string before = fold->copy->SerializeData();
    Result<Absorbed> answer = AbsorbOne(*fold->copy, report.message);
    const bool taken = answer.ok() && answer->taken();
    if (!taken && fold->copy->SerializeData() != before) {
      RATCHET_CHECK(fold->copy->ParseData(before), "pid {} cannot read its own data", node.id.pid);
    }
    fold->taken = fold->taken || taken;
    fold->answers.push_back(std::move(answer));
  }
  Session session(core);
  ProcedureTree::SetPhase(node, Phase::kFree);
  if (!fold->taken) {
    Answer(session, *fold);
    session.Ready(node);
    return;
  }
  Durable next = node.durable;
  next.data = fold->copy->SerializeData();
  next.version += 1;
  next.updated_ms = session.now_ms();
  if (RATCHET_MUTANT("procedure.ack_before_commit")) Answer(session, *fold);
  StoreThen(session, node, std::move(next), {}, {}, [fold](Session& inner, ProcNode& stored) {
    stored.procedure = std::move(fold->copy);
    if (!RATCHET_MUTANT("procedure.ack_before_commit")) Answer(inner, *fold);
    CutWaitShort(inner, stored);
    inner.Ready(stored);
  });
}

Result<Absorbed> AbsorbOne(Procedure& copy, const std::string& message) {
  try {
    return copy.Absorb(message);
  } catch (const std::exception& e) {
    return Error(Code::kInternal, fmt::format("uncaught exception while absorbing a report: {}", e.what()));
  } catch (...) {
    return Error(Code::kInternal, "uncaught exception while absorbing a report");
  }
}

void Answer(Session& session, Fold& fold) {
  for (std::size_t i = 0; i < fold.reports.size(); ++i) {
    if (!fold.reports[i].done) continue;
    session.Later([done = std::move(fold.reports[i].done), answer = std::move(fold.answers[i])] { done(answer); });
  }
}

}  // namespace

}  // namespace ratchet::procedure
