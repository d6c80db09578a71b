#include "procedure/engine/report_handler.h"

#include <exception>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/mutant.h"
#include "procedure/core/author_object.h"
#include "procedure/engine/ending.h"
#include "procedure/engine/executor_lock.h"
#include "procedure/engine/run_on.h"
#include "procedure/engine/waiting.h"

namespace ratchet::procedure {
namespace {

struct Fold {
  ProcedurePtr copy;
  std::vector<PendingReport> reports;
  std::vector<Result<Absorbed>> answers;
  bool taken = false;
};

// Declared in the order in which a report passes through them.
void RunFold(Core& core, ProcNode& node, const std::shared_ptr<Fold>& fold);
Result<Absorbed> AbsorbOne(Procedure& copy, const std::string& message);
void StoreFold(ExecutorLock& held, ProcNode& node, const std::shared_ptr<Fold>& fold);
void Answer(ExecutorLock& held, Fold& fold);

void AddReport(ExecutorLock& held, ProcId pid, PendingReport report) {
  if (held->halted || held->stopping) {
    held.Later([done = std::move(report.done)] { done(Error(Code::kUnavailable, "the executor has stopped")); });
    return;
  }
  ProcNode* node = held->tree.Find(pid);
  if (node == nullptr || IsTerminal(node->durable.state) || node->procedure == nullptr) {
    held.Later([done = std::move(report.done), pid] {
      done(Error(Code::kNotFound, fmt::format("no unfinished procedure has pid {}", pid)));
    });
    return;
  }
  node->reports.push_back(std::move(report));
  if (IsBusy(node->phase)) return;  // the report is found when the node is free
  if (node->root->tree.failing) {   // the rollback decides what the node does next, and the report does not change that
    RefuseReports(held, *node, "is being undone");
    return;
  }
  held.Ready(*node);
}

}  // namespace

void Deliver(Core& core, ProcId pid, std::string message, std::function<void(Result<Absorbed>)> done) {
  ExecutorLock held(core);
  AddReport(held, pid, {std::move(message), std::move(done)});
  held.Finish();
}

void StartFold(ExecutorLock& held, ProcNode& node) {
  auto fold = std::make_shared<Fold>();
  fold->reports = std::exchange(node.reports, {});
  fold->copy = MakeFromRecord(held.core().deps.registry, node.id, node.durable.data);
  RATCHET_CHECK(fold->copy != nullptr, "pid {} cannot read its own data", node.id.pid);
  ProcedureTree::SetPhase(node, Phase::kRunning);
  node.work = NodeWork::kFold;
  held.Later([&core = held.core(), &node, fold] { RunFold(core, node, fold); });
}

namespace {

// Runs on the thread that released the lock of StartFold. The node is busy, so this thread owns its object.
void RunFold(Core& core, ProcNode& node, const std::shared_ptr<Fold>& fold) {
  for (const PendingReport& report : fold->reports) {
    // A report that is refused or whose fold throws must leave no change behind.
    const std::string before = fold->copy->SerializeData();
    Result<Absorbed> answer = AbsorbOne(*fold->copy, report.message);
    const bool taken = answer.ok() && answer->taken();
    if (!taken && fold->copy->SerializeData() != before) {
      RATCHET_CHECK(fold->copy->ParseData(before), "pid {} cannot read its own data", node.id.pid);
    }
    fold->taken = fold->taken || taken;
    fold->answers.push_back(std::move(answer));
  }
  ExecutorLock held(core);
  StoreFold(held, node, fold);
  held.Finish();
}

void StoreFold(ExecutorLock& held, ProcNode& node, const std::shared_ptr<Fold>& fold) {
  ProcedureTree::SetPhase(node, Phase::kFree);
  node.work = NodeWork::kIdle;
  if (!fold->taken) {
    Answer(held, *fold);
    held.Ready(node);
    return;
  }
  auto task = held.NewTask();
  task->next = RecordReports(node.durable, fold->copy->SerializeData(), held.now_ms());
  if (RATCHET_MUTANT("procedure.ack_before_commit")) Answer(held, *fold);
  task->published = [fold](ExecutorLock& inner, CommitTask& landed) {
    ProcNode& stored = ShowStored(inner, landed);
    if (fold->copy != nullptr) stored.procedure = std::move(fold->copy);
    if (!RATCHET_MUTANT("procedure.ack_before_commit")) Answer(inner, *fold);
    CutWaitShort(inner, stored);
    inner.Ready(stored);
  };
  std::swap(node.procedure, fold->copy);
  if (RunOnAfterReport(held, node, task)) {
    fold->copy = nullptr;
    return;
  }
  std::swap(node.procedure, fold->copy);  // shown with its record
  BeginStore(node, *task, {});
  held.Commit(std::move(task));
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

void Answer(ExecutorLock& held, Fold& fold) {
  for (std::size_t i = 0; i < fold.reports.size(); ++i) {
    if (!fold.reports[i].done) continue;
    held.Later([done = std::move(fold.reports[i].done), answer = std::move(fold.answers[i])] { done(answer); });
  }
}

}  // namespace

}  // namespace ratchet::procedure
