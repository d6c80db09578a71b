#include "chaos/workloads/accepted_procedures.h"

#include <algorithm>

#include <fmt/core.h>

#include "chaos/workloads/load.h"
#include "common/rpc/methods/ratchet_service.h"

namespace ratchet::chaos {
namespace {

constexpr std::size_t kShownWrong = 5;

const char* OutcomeText(DdlOutcome outcome) {
  switch (outcome) {
    case DdlOutcome::kSucceeded: return "succeeded";
    case DdlOutcome::kFailed: return "failed";
    case DdlOutcome::kRefused: return "refused";
    case DdlOutcome::kUnknown: return "unknown";
    case DdlOutcome::kUnfinished: return "unfinished";
    case DdlOutcome::kLost: break;
  }
  return "lost";
}

}  // namespace

std::string CheckEndedOnce(DdlOutcome outcome, const pb::ProcedureInfo& procedure) {
  if (!procedure.finished()) return fmt::format("is {}, at step {}", procedure.state(), procedure.step());
  const bool failed = procedure.has_error() || procedure.has_error_class();
  if (outcome == DdlOutcome::kSucceeded && failed) return "was answered as a success and is recorded as a failure";
  if (outcome == DdlOutcome::kFailed && !failed) return "was answered as a failure and is recorded as a success";
  const auto& history = procedure.history();
  const auto ends =
      std::count_if(history.begin(), history.end(), [](const auto& step) { return step.outcome() == "done"; });
  if (ends > 1) return fmt::format("ended {} times", ends);
  // An operator's bypass ends a procedure between two steps.
  if (!failed && !procedure.bypassed() && !history.empty() && ends == 0)
    return "is recorded as a success without a last step";
  return {};
}

void AcceptedProcedures::Add(const std::string& what, const DdlEnd& end) {
  if (!end.pid) return;
  MutexLock lock(mutex_);
  const auto [at, added] = procedures_.try_emplace(*end.pid, Accepted{what, end.outcome});
  if (!added && at->second.what != what) {
    wrong_.push_back(fmt::format("pid {} is both {} and {}", *end.pid, at->second.what, what));
  }
  at->second.outcome = end.outcome;
  if (end.outcome == DdlOutcome::kLost) wrong_.push_back(fmt::format("pid {}, {}, is lost", *end.pid, what));
}

void AcceptedProcedures::Await(client::Connection& connection, const std::map<std::uint64_t, std::string>& unfinished,
                               Millis patience) {
  const SystemClock clock;
  for (const auto& [pid, what] : unfinished) {
    const TimePoint deadline = clock.Now() + patience;
    Add(what, WaitForEnd(connection, pid, [&] { return clock.Now() > deadline; }));
  }
}

std::size_t AcceptedProcedures::size() const {
  MutexLock lock(mutex_);
  return procedures_.size();
}

Finding AcceptedProcedures::Check(client::Connection& connection) const {
  std::map<std::uint64_t, Accepted> procedures;
  std::vector<std::string> wrong;
  {
    MutexLock lock(mutex_);
    procedures = procedures_;
    wrong = wrong_;
  }
  client::Admin admin(connection, kCheckTimeout);
  std::size_t forgotten = 0;
  for (const auto& [pid, accepted] : procedures) {
    if (accepted.outcome == DdlOutcome::kLost) continue;
    pb::GetProcedureRequest request;
    request.set_pid(pid);
    const auto answer = admin.Call(methods::kGetProcedure, request);
    if (!answer.ok()) return {false, fmt::format("pid {} cannot be asked for: {}", pid, answer.error().ToString())};
    if (!answer->has_procedure()) {
      ++forgotten;  // its end was seen; otherwise it would count as lost
      if (accepted.outcome == DdlOutcome::kUnfinished)
        wrong.push_back(fmt::format("pid {}, {}, is lost", pid, accepted.what));
      continue;
    }
    if (const auto text = CheckEndedOnce(accepted.outcome, answer->procedure()); !text.empty())
      wrong.push_back(fmt::format("pid {}, {}, {}", pid, accepted.what, text));
  }
  std::string text = fmt::format("{} accepted: {} did not end exactly once ({} were forgotten after their end)",
                                 Counted(procedures.size(), "procedure"), wrong.size(), forgotten);
  for (std::size_t i = 0; i < wrong.size() && i < kShownWrong; ++i) text += "\n  " + wrong[i];
  return {wrong.empty() && !procedures.empty(), text};
}

std::string AcceptedProcedures::ToText() const {
  MutexLock lock(mutex_);
  std::string text;
  for (const auto& [pid, accepted] : procedures_)
    text += fmt::format("{} {} {}\n", pid, OutcomeText(accepted.outcome), accepted.what);
  return text;
}

}  // namespace ratchet::chaos
