#include "chaos/verdict/settled.h"

#include <fmt/format.h>

#include "chaos/workloads/accepted_procedures.h"
#include "chaos/workloads/load.h"

namespace ratchet::chaos {
namespace {

constexpr std::size_t kShown = 5;

}  // namespace

Finding Summary(const std::string& good, const char* bad, const std::vector<std::string>& wrong) {
  if (wrong.empty()) return {true, good};
  std::string text = fmt::format("{}: {}", bad, wrong.size());
  for (std::size_t i = 0; i < wrong.size() && i < kShown; ++i) text += "\n  " + wrong[i];
  return {false, text};
}

Finding JudgeIdle(const pb::GetStatusResponse& status, const pb::ListServersResponse& servers) {
  std::vector<std::string> wrong;
  if (status.regions_in_transition() > 0)
    wrong.push_back(fmt::format("{} in transition", Counted(status.regions_in_transition(), "region")));
  if (status.procedures_stuck() > 0)
    wrong.push_back(fmt::format("{} stuck", Counted(status.procedures_stuck(), "procedure")));
  if (status.dead_server_size() > 0)
    wrong.push_back(fmt::format("the crash of {} is being handled",
                                Counted(static_cast<std::uint64_t>(status.dead_server_size()), "server")));
  for (const auto& row : servers.server()) {
    if (row.dispatch_queued() == 0 && row.dispatch_attempt() == 0) continue;
    wrong.push_back(fmt::format("server {},{}: {} queued, attempt {}", row.server().host_name(), row.server().port(),
                                Counted(row.dispatch_queued(), "order"), row.dispatch_attempt()));
  }
  return Summary("nothing is in transition, all queues are empty", "things that are not settled", wrong);
}

Finding JudgeLocks(const pb::ListLocksResponse& locks) {
  std::vector<std::string> wrong;
  for (const auto& cycle : locks.cycle()) wrong.push_back("a deadlock: " + cycle);
  for (const auto& lock : locks.lock()) {
    wrong.push_back(fmt::format("{}: held by pid {}, {} shared, {} waiting", lock.resource(),
                                fmt::join(lock.exclusive_holder(), " and pid "), lock.shared_holder_size(),
                                lock.waiter_size()));
  }
  return Summary("no lock is held", "locks are held although no procedure runs", wrong);
}

Finding JudgeProcedures(const pb::ListProceduresResponse& listed, const std::vector<pb::ProcedureInfo>& ended) {
  std::vector<std::string> wrong;
  for (const auto& procedure : listed.procedure()) {
    if (procedure.finished()) continue;
    wrong.push_back(fmt::format("pid {} {} is {} at {}{}", procedure.pid(), procedure.text(), procedure.state(),
                                procedure.step(), procedure.parked() ? ", parked" : ""));
  }
  for (const auto& procedure : ended) {
    const std::string text = CheckEndedOnce(DdlOutcome::kUnfinished, procedure);
    if (!text.empty()) wrong.push_back(fmt::format("pid {} {} {}", procedure.pid(), procedure.text(), text));
  }
  return Summary(
      fmt::format("no procedure is unfinished; each of {} ended procedures ended exactly once", ended.size()),
      "procedures that are unfinished or did not end once", wrong);
}

}  // namespace ratchet::chaos
